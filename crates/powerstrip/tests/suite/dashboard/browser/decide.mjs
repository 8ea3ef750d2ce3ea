// Approvals by keyboard alone: selected, opened, approved and rejected, each decision with a second press.
import { GATEWAY, assert, call, play, pressIn, signedIn } from "./kit.mjs";

await play(async (context) => {
  const page = await signedIn(context, "/dashboard/approvals");
  const calls = [];
  for (const [at, name] of ["ann", "bob", "carol"].entries()) {
    calls.push(call("mail.send", { to: `${name}@example.com` }));
    await page.waitForSelector(`#waiting li:nth-child(${at + 1})`);
  }
  const row = (name) => `#waiting a.row:has-text('${name}@')`;
  await page.goto(`${GATEWAY}/dashboard/approvals`);

  // The shortcuts are in the list of keys.
  await page.keyboard.press("?");
  await page.waitForSelector("#keys dd:has-text('approve or reject')", { state: "visible" });
  await page.keyboard.press("Escape");

  // Selected and opened; the first press only moves the focus.
  await page.keyboard.press("j");
  await page.waitForSelector(`${row("ann")}:focus`);
  await page.keyboard.press("j");
  await page.waitForSelector(`${row("bob")}:focus`);
  await page.keyboard.press("k");
  await pressIn(page, row("ann"), "Enter");
  // The keys work once the script has run, which is after the text has been parsed.
  await page.waitForSelector("html[data-script] #arguments:has-text('ann@')");
  await page.keyboard.press("a");
  await pressIn(page, "[data-decide=a]", "a");
  assert.equal((await calls[0]).ok, true);
  await page.waitForSelector("html[data-script] #verdict:has-text('approved')");

  // On to the next, which is rejected.
  await page.keyboard.press("j");
  await page.waitForSelector("html[data-script] #arguments:has-text('bob@')");
  await page.keyboard.press("r");
  await pressIn(page, "[data-decide=r]", "r");
  assert.equal((await calls[1]).errors[0].code, "DENIED");

  // From the list, a key opens the approval at its button; typing in the comment decides nothing.
  await page.goto(`${GATEWAY}/dashboard/approvals`);
  await page.keyboard.press("j");
  await pressIn(page, row("carol"), "a");
  await page.waitForSelector("[data-decide=a]:focus");
  await page.focus("#reason");
  await page.keyboard.type("a karj");
  assert.equal(await page.inputValue("#reason"), "a karj");
  await page.keyboard.press("Escape");
  await page.keyboard.press("a");
  await pressIn(page, "[data-decide=a]", "a");
  assert.equal((await calls[2]).ok, true);
});
