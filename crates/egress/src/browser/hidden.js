// Wraps text that a reader of the rendered page would not see in `<span hidden>`, so that it differs from the rest
// once the document is serialised: computed styles know of style sheets that the document only links to. Text that only
// fades (opacity) is marked as such: pages fade their content in, which may not have happened yet. Returns whether all
// text was looked at; what was not is hidden as well.
const markHidden = root => {
  const MOST_NODES = 60000, MOST_MS = 2000, TINY = 1, FAINT = 0.05, WHOLE = 0.6, FAR = 3000;
  const end = performance.now() + MOST_MS;
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const firstChild = getter(Node, 'firstChild'), nextSibling = getter(Node, 'nextSibling');
  const nodeType = getter(Node, 'nodeType'), localName = getter(Element, 'localName');
  const shadowOf = getter(Element, 'shadowRoot'), dataOf = getter(CharacterData, 'data');
  const rectOf = element => Element.prototype.getBoundingClientRect.call(element);
  const contains = (outer, inner) => Node.prototype.contains.call(outer, inner);
  const SKIPPED = new Set(['script', 'style', 'template', 'noscript', 'title', 'head', 'option', 'textarea', 'iframe']);
  const PICTURES = new Set(['img', 'video', 'canvas', 'picture', 'svg']);

  const alike = (a, b) => a.every((value, index) => Math.abs(value - b[index]) <= 12);
  // Colours are painted to be read: there are many ways to write one.
  const canvas = Document.prototype.createElement.call(document, 'canvas');
  canvas.width = canvas.height = 1;
  const painter = canvas.getContext('2d', { willReadFrequently: true });
  const colours = new Map();
  const colourOf = text => {
    if (!colours.has(text)) {
      painter.clearRect(0, 0, 1, 1);
      painter.fillStyle = '#000';
      painter.fillStyle = text;
      painter.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = painter.getImageData(0, 0, 1, 1).data;
      colours.set(text, { rgb: [red, green, blue], alpha: alpha / 255 });
    }
    return colours.get(text);
  };
  // The colour of a picture that is drawn in one colour only, such as `linear-gradient(#fff, #fff)`.
  const flatColour = image => {
    if (!/^[a-z-]*gradient\(/.test(image)) return null;
    const found = (image.match(/[a-z]+\([^()]*\)/g) ?? []).map(colourOf);
    return found.length && found.every(other => alike(other.rgb, found[0].rgb) && other.alpha === found[0].alpha)
      ? found[0] : null;
  };
  // A length of a clip path in pixels.
  const lengthOf = (text, whole) => text.endsWith('%') ? parseFloat(text) / 100 * whole : parseFloat(text);
  const cutsPath = (path, element) => {
    if (path === 'none') return false;
    if (/^(circle|ellipse)\(0/.test(path)) return true;
    const { width, height } = rectOf(element);
    const inset = /^inset\(([^)]*?)(?: round .*)?\)$/.exec(path);
    if (inset) {
      const sides = inset[1].trim().split(/\s+/);
      const [top, right = top, bottom = top, left = right] = sides;
      return lengthOf(top, height) + lengthOf(bottom, height) >= height - TINY
        || lengthOf(left, width) + lengthOf(right, width) >= width - TINY;
    }
    const polygon = /^polygon\((?:\w+,)?([^)]*)\)$/.exec(path);
    if (!polygon) return false;
    const points = polygon[1].split(',').map(point => {
      const [x, y] = point.trim().split(/\s+/);
      return [lengthOf(x, width), lengthOf(y, height)];
    });
    const area = points.reduce((sum, [x, y], index) => {
      const [nextX, nextY] = points[(index + 1) % points.length];
      return sum + x * nextY - nextX * y;
    }, 0);
    return Math.abs(area) / 2 <= TINY;
  };
  const isMasked = style => {
    const colour = flatColour(style.maskImage ?? 'none');
    return colour !== null && colour.alpha < FAINT;
  };
  const isTurnedAway = style => {
    if (style.backfaceVisibility !== 'hidden' || style.transform === 'none') return false;
    return new DOMMatrix(style.transform).m33 < 0;
  };
  const cuts = (style, element) => {
    if (cutsPath(style.clipPath, element) || isMasked(style) || isTurnedAway(style)) return true;
    const clip = /^rect\(([\d.]+)px,? ([\d.]+)px,? ([\d.]+)px,? ([\d.]+)px\)$/.exec(style.clip);
    return clip !== null && style.position !== 'static'
      && (clip[2] - clip[4] <= TINY || clip[3] - clip[1] <= TINY);
  };
  const filtered = style => {
    const functions = [...style.filter.matchAll(/opacity\(([\d.e+-]+)(%?)\)/g)];
    return functions.reduce((product, found) => product * Number(found[1]) / (found[2] ? 100 : 1), 1);
  };

  // What an element's text looks like, given what surrounds it.
  const within = (around, element, style) => {
    const box = style.overflowX !== 'visible' || style.overflowY !== 'visible' ? rectOf(element) : null;
    const background = colourOf(style.backgroundColor);
    let behind = around.behind;
    const flat = flatColour(style.backgroundImage);
    if (style.backgroundClip === 'text') behind = around.behind;
    else if (flat !== null && flat.alpha > 0.95) behind = flat.rgb;
    else if (style.backgroundImage !== 'none') behind = null;
    else if (background.alpha > 0.95) behind = background.rgb;
    else if (background.alpha > FAINT) behind = null;
    const hides = value => value === 'hidden' || value === 'clip';
    const clipped = hides(style.overflowX) || hides(style.overflowY);
    // The overflow of the page itself only takes its scroll bars away.
    const isPage = localName.call(element) === 'html' || localName.call(element) === 'body';
    const least = Math.max(TINY, parseFloat(style.fontSize) / 4);
    return {
      behind,
      gone: around.gone || style.display === 'none' || style.contentVisibility === 'hidden'
        || cuts(style, element) || clipped && (box.width <= least || box.height <= least),
      opacity: around.opacity * Number(style.opacity) * filtered(style),
      // What lies outside of these boxes is not seen; a box that scrolls shows it sooner or later.
      boxes: clipped && !isPage ? [...around.boxes, box] : around.boxes,
      scrolls: around.scrolls || box !== null && !clipped,
    };
  };

  const texts = [], backdrops = [];
  let visited = 0, complete = true;
  const stack = [[root, { behind: [255, 255, 255], gone: false, opacity: 1, boxes: [], scrolls: false }]];
  while (stack.length) {
    const [element, around] = stack.pop();
    if (SKIPPED.has(localName.call(element))) continue;
    const spent = ++visited > MOST_NODES || performance.now() > end;
    if (spent) complete = false;
    const style = spent ? null : getComputedStyle(element);
    const state = spent ? { ...around, gone: true } : within(around, element, style);
    if (style && (PICTURES.has(localName.call(element)) || state.behind !== around.behind)) {
      const solid = PICTURES.has(localName.call(element)) ? null : state.behind;
      // A fixed layer is a banner or a dialog over the page.
      const isLayer = style.position === 'fixed' && !PICTURES.has(localName.call(element));
      if (!isLayer && backdrops.length < 1000) backdrops.push({ element, rect: rectOf(element), solid });
    }
    const children = [];
    const shadow = shadowOf.call(element);
    for (const parent of shadow ? [element, shadow] : [element]) {
      for (let node = firstChild.call(parent); node; node = nextSibling.call(node)) {
        const type = nodeType.call(node);
        if (type === Node.ELEMENT_NODE) children.push([node, state]);
        else if (type === Node.TEXT_NODE && /\S/.test(dataOf.call(node))) texts.push({ node, element, style, state });
      }
    }
    for (const child of children.reverse()) stack.push(child);
  }

  const range = Document.prototype.createRange.call(document);
  const covered = (rect, element) => {
    const [x, y] = [rect.left + rect.width / 2, rect.top + rect.height / 2];
    if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) return false;
    const top = Document.prototype.elementFromPoint.call(document, x, y);
    if (!top || contains(top, element) || contains(element, top)) return false;
    // A fixed element is a banner or a dialog, which the reader closes.
    for (let outer = top; outer; outer = getter(Node, 'parentElement').call(outer)) {
      const { position, opacity } = getComputedStyle(outer);
      if (position === 'fixed' || position === 'sticky' || Number(opacity) < 0.95) return false;
    }
    const style = getComputedStyle(top), cover = rectOf(top);
    const opaque = PICTURES.has(localName.call(top)) || colourOf(style.backgroundColor).alpha > 0.95;
    return opaque && cover.left <= rect.left && cover.right >= rect.right && cover.top <= rect.top
      && cover.bottom >= rect.bottom;
  };
  // Whether `::before` or `::after` of the element or of one around it may paint something behind it.
  const hasPseudoBackdrop = element => {
    let outer = element;
    for (let level = 0; outer && level < 6; level += 1, outer = getter(Node, 'parentElement').call(outer)) {
      for (const pseudo of ['::before', '::after']) {
        const style = getComputedStyle(outer, pseudo);
        const paints = style.backgroundImage !== 'none' || colourOf(style.backgroundColor).alpha > FAINT;
        if (style.content !== 'none' && style.content !== 'normal' && paints) return true;
      }
    }
    return false;
  };
  const judge = ({ node, element, style, state }) => {
    if (!style || state.gone || style.visibility !== 'visible' || parseFloat(style.fontSize) <= TINY) return 'hidden';
    const written = colourOf(style.webkitTextFillColor);
    // Transparent text shows the background that is clipped to it.
    const shown = style.backgroundClip === 'text' && written.alpha < FAINT;
    const colour = !shown ? written
      : style.backgroundImage === 'none' ? colourOf(style.backgroundColor) : flatColour(style.backgroundImage);
    if (colour && colour.alpha < FAINT) return 'hidden';
    if (performance.now() > end) { complete = false; return 'hidden'; }
    range.selectNodeContents(node);
    const rect = range.getBoundingClientRect();
    // A closed <details> has no boxes: the reader opens it.
    const boxless = rect.width === 0 && rect.height === 0;
    if (boxless) return Element.prototype.closest.call(element, 'details:not([open])') ? 'seen' : 'hidden';
    if (rect.width <= TINY || rect.height <= TINY) return 'hidden';
    if (!state.scrolls && (rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0)) return 'hidden';
    if (!state.scrolls && rect.left + scrollX > innerWidth + FAR) return 'hidden';
    const crosses = other => other.left < rect.right && other.right > rect.left && other.top < rect.bottom
      && other.bottom > rect.top;
    if (!state.scrolls && !state.boxes.every(crosses)) return 'hidden';
    if (colour && state.behind && alike(colour.rgb, state.behind)) {
      const differs = other => other.solid === null || !alike(other.solid, colour.rgb);
      const isBehind = other => differs(other) && !contains(other.element, element) && crosses(other.rect);
      if (!backdrops.some(isBehind) && !hasPseudoBackdrop(element)) return 'hidden';
    }
    if (covered(rect, element)) return 'hidden';
    return state.opacity < FAINT ? 'faded' : 'seen';
  };

  const size = found => dataOf.call(found.node).length;
  let whole = 0, fading = 0;
  for (const text of texts) {
    text.kind = judge(text);
    if (text.kind !== 'hidden') whole += size(text);
    if (text.kind === 'faded') fading += size(text);
  }
  for (const { node, kind } of texts) {
    if (kind === 'seen' || kind === 'faded' && fading > whole * WHOLE) continue;
    const span = Document.prototype.createElement.call(document, 'span');
    Element.prototype.setAttribute.call(span, 'hidden', '');
    Node.prototype.insertBefore.call(getter(Node, 'parentNode').call(node), span, node);
    Node.prototype.appendChild.call(span, node);
  }
  return complete;
};
