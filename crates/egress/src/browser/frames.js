// Puts a copy of what frames of the page's own origin show behind each of them, so that it is a part of the serialised
// document. Frames that are not seen are left out, and what their style sheets hide is marked.
const insertFrames = (page, depth) => {
  const MOST_FRAMES = 20, MOST_NODES = 20000, DEEPEST = 3, SMALLEST = 20;
  const frameOf = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, 'contentDocument').get;
  const unwanted = 'script, style, link, meta, template, noscript, base, title';
  for (const frame of [...page.querySelectorAll('iframe')].slice(0, MOST_FRAMES)) {
    const inner = frameOf.call(frame);
    const box = frame.getBoundingClientRect();
    if (!inner?.body || box.width < SMALLEST || box.height < SMALLEST) continue;
    if (page.defaultView.getComputedStyle(frame).visibility !== 'visible') continue;
    if (depth < DEEPEST) insertFrames(inner, depth + 1);
    const elements = [...inner.body.querySelectorAll('*')];
    if (elements.length > MOST_NODES) continue;
    for (const element of elements) {
      const style = inner.defaultView.getComputedStyle(element);
      const hidden = style.display === 'none' || style.visibility !== 'visible' || Number(style.opacity) < 0.05
        || parseFloat(style.fontSize) <= 1;
      if (hidden) element.setAttribute('hidden', '');
    }
    const copy = page.createElement('div');
    for (const node of inner.body.childNodes) copy.append(page.importNode(node, true));
    for (const element of copy.querySelectorAll(unwanted)) element.remove();
    frame.after(copy);
  }
};
