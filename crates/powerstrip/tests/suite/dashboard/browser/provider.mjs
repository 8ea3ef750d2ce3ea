import path from "node:path";
import { GATEWAY, TIMEOUT, SCREENS, TOKEN, assert, complained, play, pressIn } from "./kit.mjs";

const { ISSUER } = process.env;

await play(async (context, errors) => {
  // The provider's pages load third-party fonts.
  await context.route((url) => ![GATEWAY, ISSUER].includes(url.origin), (route) => route.fulfill({ body: "" }));
  const page = await context.newPage();
  const target = `${GATEWAY}/dashboard/catalog?q=echo`;
  await page.goto(target);
  assert.equal(new URL(page.url()).pathname, "/dashboard/sign-in");
  const button = `text=Sign in with ${new URL(ISSUER).host}`;
  await page.waitForSelector(button);
  await page.screenshot({ path: path.join(SCREENS, "sign-in-provider.png") });

  // A user who declines returns to a page that says so.
  await page.click(button);
  await page.waitForURL((url) => url.origin === ISSUER);
  await page.click("text=[ Cancel ]");
  await page.waitForURL((url) => url.pathname === "/dashboard/sign-in/callback");
  assert.match(await page.textContent("[role=alert]"), /refused this sign-in/);
  await complained(errors);
  await page.screenshot({ path: path.join(SCREENS, "sign-in-refused.png") });
  await page.click("text=Back to the sign-in page");
  await page.waitForURL(`${GATEWAY}/dashboard/sign-in`);

  await page.goto(target);
  await pressIn(page, "button.primary", "Enter");
  await page.waitForURL((url) => url.origin === ISSUER);
  await page.fill("input[name=login]", "ada");
  await page.fill("input[name=password]", "whatever");
  await page.click("button[type=submit]");
  await page.click("button:has-text('Continue')");
  await page.waitForURL(target);
  assert.match(await page.textContent("nav .who"), /ada/, "the page shows the user of the provider");
  assert.match(await page.textContent("main"), /demo\.echo/);
  const cookies = await context.cookies(GATEWAY);
  const ours = cookies.filter((cookie) => cookie.name.startsWith("powerstrip-"));
  assert.deepEqual(ours.map((cookie) => [cookie.sameSite, cookie.httpOnly]), [["Strict", true]], "only the session is left");

  await page.goto(`${GATEWAY}/dashboard/calls`);
  assert.equal(new URL(page.url()).pathname, "/dashboard/calls");
  await page.goBack();
  assert.equal(page.url(), target, "no step of the sign-in stays in the history");

  // The token expires after five seconds; the gateway renews it before that.
  const renewals = async () => Number(await (await fetch(`${ISSUER}/renewals`)).text());
  for (const until = Date.now() + TIMEOUT; (await renewals()) < 2;) {
    assert.ok(Date.now() < until, "the token is renewed, and the renewed one, too");
    await page.reload();
    assert.equal(page.url(), target, "she is still in");
  }

  await page.click("text=Sign out");
  await page.waitForURL(`${GATEWAY}/dashboard/sign-in`);
  await page.goto(`${GATEWAY}/dashboard/calls`);
  assert.equal(new URL(page.url()).pathname, "/dashboard/sign-in", "out is out");

  // The provider has a session for the user, so it answers at once.
  await page.click(button);
  await page.waitForURL(`${GATEWAY}/dashboard/calls`);

  // Operators can still sign in with a token.
  await context.clearCookies();
  await page.goto(`${GATEWAY}/dashboard/sign-in`);
  await page.waitForSelector("button.primary:focus"); // The page focuses this button, which would take the key from the field.
  await page.fill("#token", TOKEN);
  await pressIn(page, "#token", "Enter");
  await page.waitForURL(`${GATEWAY}/dashboard`);
  assert.match(await page.textContent("nav .who"), /admin/);
  // Faults of the provider's own pages do not count.
  errors.splice(0, errors.length, ...errors.filter((error) => !error.startsWith(ISSUER)));
});
