import { GATEWAY, assert, play, signedIn } from "./kit.mjs";

await play(async (context) => {
  const page = await signedIn(context);
  const at = () => new URL(page.url()).pathname;
  const rooms = await page.$$eval("nav a[data-key]", (links) => links.map((link) => [link.dataset.key, link.getAttribute("href")]));
  assert.ok(rooms.length >= 8);
  for (const [key, place] of rooms) {
    // One target is the current page: it reloads, and the next key goes to the reloaded page.
    const arrived = page.waitForEvent("load");
    // Both keys are sent at once, because the page waits only briefly for the second.
    await Promise.all([page.keyboard.press("g"), page.keyboard.press(key)]);
    await arrived;
    await page.waitForURL(`${GATEWAY}${place}`);
    assert.equal(await page.getAttribute(`nav .sections a[href='${place}']`, "aria-current"), "page");
  }

  await page.goto(`${GATEWAY}/dashboard/catalog`);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "q");
  await page.keyboard.type("order go");
  assert.equal(at(), "/dashboard/catalog", "typing goes nowhere");
  await page.waitForSelector(".empty:has-text('No results')");
  await page.fill("#q", "creates order");
  await page.waitForSelector("#results a[href='/dashboard/tools/orders.create']");
  assert.equal(await page.locator("#results a.row").count(), 1);
  await page.waitForURL(/q=creates\+order/); // What was searched for is in the address.
  await page.keyboard.press("Escape");

  await page.keyboard.press("?");
  await page.waitForSelector("#keys", { state: "visible" });
  await page.keyboard.press("Escape");
  await page.waitForSelector("#keys", { state: "hidden" });

  await page.goto(`${GATEWAY}/dashboard`);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip", "the first stop skips to the page");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none", "one sees where one is");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#main:focus");

  // Every clickable element can be reached by keyboard.
  const unreachable = await page.$$eval("main a, main button, nav a, nav button", (all) =>
    all.filter((one) => one.tabIndex < 0 && !one.closest("[aria-hidden]") && !one.hidden).length);
  assert.equal(unreachable, 0);
});
