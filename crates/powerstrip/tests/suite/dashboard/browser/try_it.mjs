import { GATEWAY, assert, complained, play, signedIn } from "./kit.mjs";

await play(async (context, errors) => {
  const page = await signedIn(context, "/dashboard/tools/orders.create");
  const field = (pointer) => page.locator(`[name="v${pointer}"]`);

  // Faults are shown at their fields, and the input is kept.
  await field("/customer").fill("C");
  await field("/discount").fill("12.5");
  await field("/address/street").fill("Main Street 1\nBack door");
  await page.locator("form.try button.primary").click();
  await page.waitForSelector("form.try [role=alert]");
  await complained(errors);
  assert.equal(await field("/customer").getAttribute("aria-invalid"), "true");
  assert.equal(await field("/lines/0/sku").getAttribute("aria-invalid"), "true");
  assert.equal(await field("/address/city").getAttribute("aria-invalid"), "true");
  assert.equal(await field("/discount").getAttribute("aria-invalid"), null);
  assert.equal(await field("/address/street").inputValue(), "Main Street 1\nBack door");

  // Items are added and removed without loading a page.
  await page.evaluate(() => { window.same = true; });
  await page.click("text=Add lines");
  await page.waitForSelector("[name='v/lines/1/sku']");
  assert.equal(await field("/lines/1/count").inputValue(), "1", "defaults are filled in");
  await field("/lines/0/sku").fill("gone");
  await field("/lines/1/sku").fill("A-7");
  await field("/lines/1/count").fill("3");
  await page.click("[aria-label='Remove lines 1']");
  await page.waitForFunction(() => !document.querySelector("[name='v/lines/1/sku']"));
  assert.equal(await page.evaluate(() => window.same), true);
  assert.equal(await field("/lines/0/sku").inputValue(), "A-7");

  await field("/customer").fill("C-1042");
  await field("/address/city").fill("Bern");
  await field("/priority").selectOption({ label: "high" });
  await field("/express").selectOption("true");
  await field("/payment").fill('{"iban": ["CH00"]}');
  const expected = {
    customer: "C-1042", priority: "high", express: true, discount: 12.5, lines: [{ sku: "A-7", count: 3 }],
    address: { street: "Main Street 1\nBack door", city: "Bern" }, payment: { iban: ["CH00"] },
  };

  // Switch to JSON and back.
  await page.click("text=Edit as JSON");
  await page.waitForSelector("#raw");
  assert.deepEqual(JSON.parse(await page.inputValue("#raw")), expected);
  await page.click("text=Edit as form");
  await page.waitForSelector("[name='v/customer']");
  await page.locator("form.try button.primary").click();
  await page.waitForURL("**/dashboard/tries/*");
  await page.waitForSelector("#answer .mark.good");
  const envelope = JSON.parse(await page.textContent("#answer pre"));
  assert.deepEqual(envelope.data.got.input, expected);
  assert.match(await page.textContent("#answer .verdict"), /\d+ (µs|ms|s)/, "how long it took");

  // A reload does not repeat the call; trying again keeps the input; the trace is a link.
  await page.reload();
  assert.deepEqual(JSON.parse(await page.textContent("#answer pre")), envelope);
  await page.click("text=Try again");
  assert.equal(await field("/customer").inputValue(), "C-1042");
  await page.goto(`${GATEWAY}/dashboard/calls/${envelope.meta.traceId}`);
  await page.waitForSelector("ol.timeline");

  // A call that needs approval waits, and can be decided on its page.
  await page.goto(`${GATEWAY}/dashboard/tools/mail.send`);
  await field("/to").fill("ann@example.com");
  await page.locator("form.try button.primary").click();
  await page.waitForURL("**/dashboard/tries/*");
  await page.click("text=Decide");
  await page.click("button[value=approve]");
  await page.waitForSelector("#verdict:has-text('approved')");
  await page.goBack();
  await page.goBack();
  await page.waitForSelector("#answer .mark.good");
});
