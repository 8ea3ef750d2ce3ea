// Compares one run of the conformance suite with what is known to fail.
//
// usage: compare.mjs LEG REVISION RESULTS_FOLDER BASELINE REQUIREMENTS
//        compare.mjs LEG --list REQUIREMENTS
// LEG is server or client. A check fails by FAILURE or WARNING, scored by the revision or not; a scenario without results fails as
// SCENARIO:no-result, and one whose client says `client: REASON` on standard error as SCENARIO:client.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const [leg, revision, results, baseline] = process.argv.slice(2);
const requirements = process.argv.at(-1);

// Of the requirements file only two kinds of lines matter: the list under `server:` or `client:`, and unscored entries with that leg.
function requiredScenarios() {
  const scenarios = [];
  let section = '';
  let unscored = '';
  for (const line of readFileSync(requirements, 'utf8').split('\n')) {
    section = line.match(/^(\w+):/)?.[1] ?? section;
    unscored = line.match(/^ {2}- scenario: (\S+)/)?.[1] ?? unscored;
    if (section === leg && /^ {2}- \S/.test(line)) scenarios.push(line.slice(4).trim());
    if (section === 'not_scored' && line === `    leg: ${leg}`) scenarios.push(unscored);
  }
  return scenarios;
}

// Folders are named server-SCENARIO-TIMESTAMP, or SCENARIO-TIMESTAMP for clients, where SCENARIO may contain a slash.
function resultsByScenario() {
  const found = new Map();
  if (!existsSync(results)) return found;
  for (const file of readdirSync(results, { recursive: true })) {
    const scenario = file.match(/^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/)?.[1];
    if (!scenario) continue;
    const checks = JSON.parse(readFileSync(path.join(results, file), 'utf8'));
    const said = path.join(results, path.dirname(file), 'stderr.txt');
    const reason = existsSync(said) ? readFileSync(said, 'utf8').match(/^client: (.*)$/m)?.[1] : undefined;
    if (reason) checks.push({ id: 'client', status: 'FAILURE', errorMessage: reason });
    found.set(scenario, checks);
  }
  return found;
}

function knownFailures() {
  const known = new Set();
  for (const line of readFileSync(baseline, 'utf8').split('\n')) {
    const [of, check] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (of === revision) known.add(check);
  }
  return known;
}

const scenarios = requiredScenarios();
if (scenarios.length === 0) throw new Error(`no scenarios found in ${requirements}`);
if (revision === '--list') {
  console.log(scenarios.join('\n'));
  process.exit();
}
const found = resultsByScenario();
const failing = new Map();
let passed = 0;
for (const scenario of scenarios) {
  const checks = found.get(scenario);
  if (!checks) failing.set(`${scenario}:no-result`, 'the suite left no result');
  for (const check of checks ?? []) {
    if (check.status === 'SUCCESS') passed += 1;
    if (check.status === 'FAILURE' || check.status === 'WARNING') {
      failing.set(`${scenario}:${check.id}`, check.errorMessage ?? check.description);
    }
  }
}

const known = knownFailures();
const surprises = [...failing].filter(([check]) => !known.has(check));
const stale = [...known].filter((check) => !failing.has(check));
console.log(`${leg} ${revision}: ${passed} passed, ${failing.size} failed, ${known.size} known to fail`);
for (const [check, reason] of surprises) console.error(`  FAIL ${check}: ${reason}`);
for (const check of stale) console.error(`  PASSES NOW ${check}: take it out of ${baseline}`);
process.exit(surprises.length + stale.length === 0 ? 0 : 1);
