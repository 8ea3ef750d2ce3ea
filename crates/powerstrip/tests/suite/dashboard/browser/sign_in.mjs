import { GATEWAY, TOKEN, assert, complained, play } from "./kit.mjs";

await play(async (context, errors) => {
  const page = await context.newPage();
  await page.goto(`${GATEWAY}/dashboard/calls?tool=demo.echo`);
  assert.equal(new URL(page.url()).pathname, "/dashboard/sign-in", "visitors are sent to the sign-in page");
  await page.fill("#token", "psa_not_this_one");
  await page.click("button.primary");
  assert.match(await page.textContent("[role=alert]"), /token is not valid/);
  assert.equal(await page.inputValue("#token"), "", "a wrong token is not shown again");
  await complained(errors);

  await page.fill("#token", TOKEN);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${GATEWAY}/dashboard/calls?tool=demo.echo`);
  assert.equal(await page.inputValue("input[name=tool]"), "demo.echo", "the requested page is opened");
  assert.equal(await page.evaluate(() => document.cookie), "", "no script reads the session");

  await page.click("nav .switch button[value=dark]");
  await page.waitForSelector("html[data-theme=dark]");
  await page.goto(`${GATEWAY}/dashboard/catalog`);
  assert.equal(await page.getAttribute("html", "data-theme"), "dark", "the choice is kept");

  await page.click("text=Sign out");
  await page.waitForURL(`${GATEWAY}/dashboard/sign-in`);
  await page.goBack();
  await page.goto(`${GATEWAY}/dashboard`);
  assert.equal(new URL(page.url()).pathname, "/dashboard/sign-in");
});
