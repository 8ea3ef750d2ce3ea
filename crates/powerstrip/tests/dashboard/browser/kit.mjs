// What the scenarios share: a browser, a signed-in page that complains about errors, and calls beside it.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const { MODULES, CHROMIUM, GATEWAY, TOKEN, SCREENS } = process.env;
const { chromium } = createRequire(path.join(MODULES, "x.js"))("playwright-core");

export { assert, GATEWAY, TOKEN, SCREENS };

/** Plays a scenario in a browser of its own; a console error on any page fails it. */
export async function play(scenario) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "powerstrip-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    viewport: { width: 1280, height: 800 },
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
    ],
  });
  const errors = [];
  const watch = (page) => {
    page.on("console", (message) => message.type() === "error" && errors.push(`${page.url()}: ${message.text()}`));
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
    page.on("dialog", (dialog) => { errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  };
  const assets = process.env.ASSETS; // Of a checkout, to look at a change without building.
  if (assets) { await context.route("**/*-style.css", (r) => r.fulfill({ path: assets + "style.css", contentType: "text/css" })); await context.route("**/*-app.js", (r) => r.fulfill({ path: assets + "app.js", contentType: "text/javascript" })); }
  context.on("page", watch);
  context.pages().forEach(watch);
  context.setDefaultTimeout(20_000);
  try {
    await scenario(context, errors);
    assert.deepEqual(errors, [], "no page complains");
  } finally {
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A page of somebody who has signed in. */
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

/** Calls a tool as an app would; the envelope, when it is there. */
export async function call(tool, input, signal, headers = {}) {
  const response = await fetch(`${GATEWAY}/mcp/tool/${tool}`, {
    method: "POST",
    signal,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(input),
  });
  return response.json();
}

/** Waits until a live page hears what happens. */
export const listening = (page) => page.waitForSelector("body[data-listening=yes]");
