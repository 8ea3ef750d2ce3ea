//! The scripts that we run in pages. All but [`WITHOUT_BACKGROUND`] run in a world of their own, whose objects the page's
//! scripts cannot change. Properties are read by way of their prototypes: an element's name can hide a property of the
//! document.

/// Removes interfaces whose connections are hard to follow or outlive the page. The proxy stays the boundary: a page that
/// finds another way to them still cannot pass it.
pub(super) const WITHOUT_BACKGROUND: &str = "
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete globalThis[name];
delete Navigator.prototype.serviceWorker;";

/// Returns the milliseconds since the last change of the document, and whether it has loaded.
pub(super) const PROBE: &str = "(() => {
  const key = Symbol.for('powerstrip.changed');
  if (globalThis[key] === undefined) {
    globalThis[key] = performance.now();
    new MutationObserver(() => { globalThis[key] = performance.now(); })
      .observe(document, { subtree: true, childList: true, characterData: true });
  }
  const state = Object.getOwnPropertyDescriptor(Document.prototype, 'readyState').get.call(document);
  return { quiet: performance.now() - globalThis[key], loaded: state === 'complete' };
})()";

/// Returns the title and the beginning of the visible text, and whether the page has scripts or will load another one.
pub(super) const SHOWN: &str = "(() => {
  const read = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const body = read(Document, 'body').call(document);
  const text = body ? read(HTMLElement, 'innerText').call(body) : '';
  const find = selector => Document.prototype.querySelector.call(document, selector) !== null;
  return {
    text: (read(Document, 'title').call(document) + '\\n' + text.slice(0, 8000)).toWellFormed(),
    moves: find('script') || find('meta[http-equiv=refresh i]'),
  };
})()";

/// Presses the button that accepts a page's cookies; returns whether there is one.
pub(super) const ACCEPT_COOKIES: &str = include_str!("accept_cookies.js");

/// Defines `insertFrames`, which puts the content of frames of the same origin where the frames are.
const INSERT_FRAMES: &str = include_str!("frames.js");

/// Defines `markHidden`, which marks text that a reader would not see.
const MARK_HIDDEN: &str = include_str!("hidden.js");

/// Marks hidden text, serialises the document with its open shadow roots, keeps at most `max` UTF-16 units for [`slice`], and returns how
/// many there are and whether some were left out.
pub(super) fn serialize(max: usize) -> String {
    format!(
        "(max => {{
  {INSERT_FRAMES}
  {MARK_HIDDEN}
  const read = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const root = read(Document, 'documentElement').call(document);
  let html = '', complete = true;
  if (root) {{
    insertFrames(document, 0);
    complete = markHidden(root);
    const shadowOf = read(Element, 'shadowRoot');
    const shadowRoots = [], left = [root];
    while (left.length) {{
      for (const element of left.pop().querySelectorAll('*')) {{
        const shadow = shadowOf.call(element);
        if (shadow) {{ shadowRoots.push(shadow); left.push(shadow); }}
      }}
    }}
    const shell = root.cloneNode(false).outerHTML;
    const end = shell.lastIndexOf('</');
    html = shell.slice(0, end) + root.getHTML({{ shadowRoots }}) + shell.slice(end);
    if (read(Document, 'doctype').call(document)) html = '<!DOCTYPE html>' + html;
  }}
  const whole = html.length;
  if (whole > max) html = html.slice(0, max);
  globalThis[Symbol.for('powerstrip.html')] = html.toWellFormed();
  return {{ length: html.length, cut: whole > max || !complete }};
}})({max})"
    )
}

/// Returns up to `length` UTF-16 units of the serialised document, without cutting a character in two.
pub(super) fn slice(start: usize, length: usize) -> String {
    format!(
        "((start, end) => {{
  const html = globalThis[Symbol.for('powerstrip.html')];
  const unit = html.charCodeAt(end - 1);
  if (end < html.length && unit >= 0xd800 && unit < 0xdc00) end -= 1;
  return html.slice(start, end);
}})({start}, {})",
        start.saturating_add(length)
    )
}
