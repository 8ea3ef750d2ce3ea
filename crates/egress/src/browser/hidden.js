// Wraps text that a reader of the rendered page would not see in `<span hidden>`, so that it can be told from the rest
// once the document is serialised: computed styles know of style sheets that the document only links to. Text that only
// fades (opacity) is marked as such: pages fade their content in, which may not have happened yet. Returns whether all
// text was looked at; what was not is hidden as well.
const markHidden = root => {
  const MOST_NODES = 60000, MOST_MS = 2000, TINY = 1, FAINT = 0.05, WHOLE = 0.6;
  const end = performance.now() + MOST_MS;
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const firstChild = getter(Node, 'firstChild'), nextSibling = getter(Node, 'nextSibling');
  const nodeType = getter(Node, 'nodeType'), localName = getter(Element, 'localName');
  const shadowOf = getter(Element, 'shadowRoot'), dataOf = getter(CharacterData, 'data');
  const rectOf = element => Element.prototype.getBoundingClientRect.call(element);
  const contains = (outer, inner) => Node.prototype.contains.call(outer, inner);
  const SKIPPED = new Set(['script', 'style', 'template', 'noscript', 'title', 'head', 'option', 'textarea', 'iframe']);
  const PICTURES = new Set(['img', 'video', 'canvas', 'picture', 'svg']);

  const colourOf = text => {
    const found = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text);
    return found && { rgb: found.slice(1, 4).map(Number), alpha: found[4] === undefined ? 1 : Number(found[4]) };
  };
  const alike = (a, b) => a.every((value, index) => Math.abs(value - b[index]) <= 12);
  const cuts = style => {
    const inset = /^inset\(([\d.]+)%/.exec(style.clipPath);
    if (inset && Number(inset[1]) >= 50 || /^(circle|ellipse)\(0/.test(style.clipPath)) return true;
    const clip = /^rect\(([\d.]+)px,? ([\d.]+)px,? ([\d.]+)px,? ([\d.]+)px\)$/.exec(style.clip);
    return clip !== null && style.position !== 'static'
      && (clip[2] - clip[4] <= TINY || clip[3] - clip[1] <= TINY);
  };
  const filtered = style => {
    const found = /opacity\(([\d.]+)(%?)\)/.exec(style.filter);
    return found ? Number(found[1]) / (found[2] ? 100 : 1) : 1;
  };

  // What an element's text looks like, given what surrounds it.
  const within = (around, element, style) => {
    const box = style.overflowX !== 'visible' || style.overflowY !== 'visible' ? rectOf(element) : null;
    const background = colourOf(style.backgroundColor);
    let behind = around.behind;
    if (style.backgroundImage !== 'none' || !background) behind = null;
    else if (background.alpha > 0.95) behind = background.rgb;
    else if (background.alpha > FAINT) behind = null;
    const clipped = style.overflowX === 'hidden' || style.overflowX === 'clip'
      || style.overflowY === 'hidden' || style.overflowY === 'clip';
    return {
      behind,
      gone: around.gone || style.display === 'none' || style.contentVisibility === 'hidden' || cuts(style)
        || clipped && (box.width <= TINY || box.height <= TINY),
      opacity: around.opacity * Number(style.opacity) * filtered(style),
      scrolls: around.scrolls || box !== null,
    };
  };

  const texts = [], backdrops = [];
  let visited = 0, complete = true;
  const stack = [[root, { behind: [255, 255, 255], gone: false, opacity: 1, scrolls: false }]];
  while (stack.length) {
    const [element, around] = stack.pop();
    if (SKIPPED.has(localName.call(element))) continue;
    const spent = ++visited > MOST_NODES || performance.now() > end;
    if (spent) complete = false;
    const style = spent ? null : getComputedStyle(element);
    const state = spent ? { ...around, gone: true } : within(around, element, style);
    if (style && (PICTURES.has(localName.call(element)) || state.behind !== around.behind)) {
      if (backdrops.length < 1000) backdrops.push({ element, rect: rectOf(element) });
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
    const opaque = PICTURES.has(localName.call(top)) || (colourOf(style.backgroundColor)?.alpha ?? 0) > 0.95;
    return opaque && cover.left <= rect.left && cover.right >= rect.right && cover.top <= rect.top
      && cover.bottom >= rect.bottom;
  };
  const judge = ({ node, element, style, state }) => {
    if (!style || state.gone || style.visibility !== 'visible' || parseFloat(style.fontSize) <= TINY) return 'hidden';
    const colour = colourOf(style.webkitTextFillColor);
    if (colour && colour.alpha < FAINT && style.backgroundClip !== 'text') return 'hidden';
    if (performance.now() > end) { complete = false; return 'hidden'; }
    range.selectNodeContents(node);
    const rect = range.getBoundingClientRect();
    // A closed <details> has no boxes: the reader opens it.
    const boxless = rect.width === 0 && rect.height === 0;
    if (boxless) return Element.prototype.closest.call(element, 'details:not([open])') ? 'seen' : 'hidden';
    if (rect.width <= TINY || rect.height <= TINY) return 'hidden';
    if (!state.scrolls && (rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0)) return 'hidden';
    if (colour && state.behind && alike(colour.rgb, state.behind)) {
      const crosses = other => other.left < rect.right && other.right > rect.left && other.top < rect.bottom
        && other.bottom > rect.top;
      if (!backdrops.some(other => !contains(other.element, element) && crosses(other.rect))) return 'hidden';
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
