// Presses the first visible button whose words accept cookies, in the page, its open shadow roots and frames of its origin.
(() => {
  const ACCEPTS = new RegExp('^\\W*(yes,? )?(i |we )?(accept|agree|allow|consent|got it|ok(ay)?$|continue|akzeptier|alle[ns]? ' +
    '(cookies )?(akzeptier|zulassen|annehm)|zustimm|ich stimme zu|einverstanden|(tout )?accepter|j.accepte|' +
    'tout autoriser|acept|acepto|accett|aceit|akkoord|alles (accepteren|toestaan)|accepteer|zgadzam|akceptuj|' +
    'принять|согласен|同意|すべて許可)', 'i');
  const LONGEST = 40, MOST = 5000;
  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, 'shadowRoot').get;
  const frameOf = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, 'contentDocument').get;
  const left = [document];
  let seen = 0;
  while (left.length) {
    for (const element of left.shift().querySelectorAll('*')) {
      if (++seen > MOST) return false;
      const shadow = shadowOf.call(element);
      if (shadow) left.push(shadow);
      if (element.localName === 'iframe') {
        const inner = frameOf.call(element);
        if (inner) left.push(inner);
      }
      if (!element.matches('button, [role=button], input[type=button], input[type=submit], a')) continue;
      const words = (element.innerText || element.value || element.getAttribute('aria-label') || '').trim();
      const box = element.getBoundingClientRect();
      if (words.length > LONGEST || !ACCEPTS.test(words) || box.width === 0 || box.height === 0) continue;
      element.click();
      return true;
    }
  }
  return false;
})()
