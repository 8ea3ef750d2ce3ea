// Compares two runs of the conformance suite: the same checks must pass in both.
//
// usage: equal.mjs DIRECT_FOLDER BEHIND_FOLDER EXCEPTIONS NAME
// Lines "NAME SCENARIO:CHECK" of EXCEPTIONS name checks that pass in one run only. One that passes in both is an error, too.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const [direct, behind, exceptions, name] = process.argv.slice(2);

// Folders are named server-SCENARIO-TIMESTAMP. A check may appear several times; it passes if it never fails.
function passed(results) {
  const [passing, failing] = [new Set(), new Set()];
  for (const folder of existsSync(results) ? readdirSync(results) : []) {
    const scenario = folder.match(/^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/)?.[1];
    const file = path.join(results, folder, 'checks.json');
    if (!scenario || !existsSync(file)) continue;
    for (const { id, status } of JSON.parse(readFileSync(file, 'utf8'))) {
      if (status === 'SUCCESS') passing.add(`${scenario}:${id}`);
      if (status === 'FAILURE' || status === 'WARNING') failing.add(`${scenario}:${id}`);
    }
  }
  return new Set([...passing].filter((check) => !failing.has(check)));
}

const known = new Set();
for (const line of readFileSync(exceptions, 'utf8').split('\n')) {
  const [of, check] = line.replace(/#.*/, '').trim().split(/\s+/);
  if (of === name) known.add(check);
}
const [directly, through] = [passed(direct), passed(behind)];
const differing = new Map();
for (const check of directly) if (!through.has(check)) differing.set(check, 'passes directly only');
for (const check of through) if (!directly.has(check)) differing.set(check, 'passes behind the gateway only');
const problems = [...differing].filter(([check]) => !known.has(check)).map(([check, how]) => `${check} ${how}`);
problems.push(...[...known].filter((check) => !differing.has(check)).map((check) => `${check} does not differ: take it out of ${exceptions}`));
if (directly.size === 0) problems.push('nothing passes directly');
console.log(`${directly.size} checks pass directly, ${through.size} behind the gateway, ${known.size} known to differ${problems.map((one) => `; ${one}`).join('')}`);
process.exit(problems.length === 0 ? 0 : 1);
