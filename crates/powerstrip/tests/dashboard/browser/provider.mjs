import path from "node:path";
import { GATEWAY, PATIENCE, SCREENS, TOKEN, assert, complained, play, pressIn } from "./kit.mjs";

const { ISSUER } = process.env;

await play(async (context, errors) => {
  // The provider's pages ask for fonts of others.
  await context.route((url) => ![GATEWAY, ISSUER].includes(url.origin), (route) => route.fulfill({ body: "" }));
  const page = await context.newPage();
  const wanted = `${GATEWAY}/dashboard/catalog?q=echo`;
  await page.goto(wanted);
  assert.equal(new URL(page.url()).pathname, "/dashboard/sign-in");
  const button = `text=Sign in with ${new URL(ISSUER).host}`;
  await page.waitForSelector(button);
  await page.screenshot({ path: path.join(SCREENS, "sign-in-provider.png") });

  // Whoever says no comes back to a page that says so.
  await page.click(button);
  await page.waitForURL((url) => url.origin === ISSUER);
  await page.click("text=[ Cancel ]");
  await page.waitForURL((url) => url.pathname === "/dashboard/sign-in/callback");
  assert.match(await page.textContent("[role=alert]"), /refused this sign-in/);
  await complained(errors);
  await page.screenshot({ path: path.join(SCREENS, "sign-in-refused.png") });
  await page.click("text=Back to the sign-in page");
  await page.waitForURL(`${GATEWAY}/dashboard/sign-in`);

  await page.goto(wanted);
  await pressIn(page, "button.primary", "Enter");
  await page.waitForURL((url) => url.origin === ISSUER);
  await page.fill("input[name=login]", "ada");
  await page.fill("input[name=password]", "whatever");
  await page.click("button[type=submit]");
  await page.click("button:has-text('Continue')");
  await page.waitForURL(wanted);
  assert.match(await page.textContent("nav .who"), /ada/, "she is whom the provider says");
  assert.match(await page.textContent("main"), /demo\.echo/);
  const cookies = await context.cookies(GATEWAY);
  const ours = cookies.filter((cookie) => cookie.name.startsWith("powerstrip-"));
  assert.deepEqual(ours.map((cookie) => [cookie.sameSite, cookie.httpOnly]), [["Strict", true]], "only the session is left");

  await page.goto(`${GATEWAY}/dashboard/calls`);
  assert.equal(new URL(page.url()).pathname, "/dashboard/calls");
  await page.goBack();
  assert.equal(page.url(), wanted, "no step of the sign-in stays in the history");

  // Her token lives for five seconds; the gateway has the next one before it ends, and she notices nothing.
  const renewals = async () => Number(await (await fetch(`${ISSUER}/renewals`)).text());
  for (const until = Date.now() + PATIENCE; (await renewals()) < 2;) {
    assert.ok(Date.now() < until, "the token is renewed, and the renewed one, too");
    await page.reload();
    assert.equal(page.url(), wanted, "she is still in");
  }

  await page.click("text=Sign out");
  await page.waitForURL(`${GATEWAY}/dashboard/sign-in`);
  await page.goto(`${GATEWAY}/dashboard/calls`);
  assert.equal(new URL(page.url()).pathname, "/dashboard/sign-in", "out is out");

  // The provider remembers her, so its answer comes in the same breath.
  await page.click(button);
  await page.waitForURL(`${GATEWAY}/dashboard/calls`);

  // The token form is still there for who runs the gateway.
  await context.clearCookies();
  await page.goto(`${GATEWAY}/dashboard/sign-in`);
  await page.waitForSelector("button.primary:focus"); // The page's own wish, which would take the key from the field.
  await page.fill("#token", TOKEN);
  await pressIn(page, "#token", "Enter");
  await page.waitForURL(`${GATEWAY}/dashboard`);
  assert.match(await page.textContent("nav .who"), /admin/);
  // What the provider's own pages miss is not ours to mend.
  errors.splice(0, errors.length, ...errors.filter((error) => !error.startsWith(ISSUER)));
});
