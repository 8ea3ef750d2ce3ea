// Shared by the scenarios: a browser, a signed-in page that reports errors, and calls of tools.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const { MODULES, CHROMIUM, GATEWAY, TOKEN, SCREENS } = process.env;
const { chromium } = createRequire(path.join(MODULES, "x.js"))("playwright-core");

const TIMEOUT = 20_000;

export { assert, GATEWAY, TIMEOUT, TOKEN, SCREENS };

/** Runs a scenario in its own browser; a console error on any page fails it. */
export async function play(scenario) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "powerstrip-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    viewport: { width: 1280, height: 800 },
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
      // Only requests to this machine are allowed.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    ],
  });
  const errors = [];
  const watch = (page) => {
    page.on("console", (message) => message.type() === "error" && errors.push(`${message.location().url || page.url()}: ${message.text()}`));
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
    page.on("dialog", (dialog) => { errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  };
  const assets = process.env.ASSETS; // Of a checkout, to look at a change without building.
  if (assets) { await context.route("**/*-style.css", (r) => r.fulfill({ path: assets + "style.css", contentType: "text/css" })); await context.route("**/*-app.js", (r) => r.fulfill({ path: assets + "app.js", contentType: "text/javascript" })); }
  context.on("page", watch);
  context.pages().forEach(watch);
  context.setDefaultTimeout(TIMEOUT);
  try {
    await scenario(context, errors);
    assert.deepEqual(errors, [], "no page complains");
  } finally {
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A page of a signed-in user. */
export async function signedIn(context, place = "/dashboard") {
  const page = await context.newPage();
  await page.goto(`${GATEWAY}/dashboard/sign-in`);
  await page.fill("#token", TOKEN);
  await page.click("button.primary");
  await page.waitForURL(`${GATEWAY}/dashboard`);
  if (place !== "/dashboard") {
    await page.goto(`${GATEWAY}${place}`);
  }
  return page;
}

/** Calls a tool over HTTP; resolves to the envelope. */
export async function call(tool, input, signal, headers = {}) {
  const response = await fetch(`${GATEWAY}/mcp/tool/${tool}`, {
    method: "POST",
    signal,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(input),
  });
  return response.json();
}

/** Waits for the error that the browser logs about a refused request, and removes it. */
export async function complained(errors) {
  const ours = () => errors.filter((error) => error.startsWith(GATEWAY));
  for (const until = Date.now() + TIMEOUT; ours().length === 0;) {
    assert.ok(Date.now() < until, "the browser notes the refusal");
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.equal(ours().length, 1, errors.join("\n"));
  errors.splice(errors.findIndex((error) => error.startsWith(GATEWAY)), 1);
}

/** Presses a key once the element has the focus: the browser moves the focus shortly after the page has loaded. */
export async function pressIn(page, element, key) {
  await page.waitForSelector(`${element}:focus`);
  await page.keyboard.press(key);
}

/** Waits until a live page receives events. */
export const listening = (page) => page.waitForSelector("body[data-listening=yes]");
