// The official TypeScript clients, version 1 and 2, under the same names.

import { createRequire } from 'node:module';
import path from 'node:path';

const MODERN = '2026-07-28';
const NEGOTIATION = { auto: 'auto', legacy: 'legacy', [MODERN]: { pin: MODERN } };

// MODE is auto, legacy, 2026-07-28 (version 2), or v1.
export function sdk(modules, mode) {
  // Required by path, since the packages live outside the checkout.
  const load = createRequire(path.join(modules, 'here.cjs'));
  if (mode !== 'v1') return { ...load('@modelcontextprotocol/client'), ...load('@modelcontextprotocol/client/stdio') };
  const client = '@modelcontextprotocol/sdk/client';
  return {
    ...load('@modelcontextprotocol/sdk/types.js'),
    ...load(`${client}/index.js`),
    ...load(`${client}/streamableHttp.js`),
    ...load(`${client}/stdio.js`),
  };
}

export function options(mode, capabilities = {}) {
  return mode === 'v1' ? { capabilities } : { capabilities, versionNegotiation: { mode: NEGOTIATION[mode] } };
}

// The reason why the client speaks the wrong revision, or nothing. Version 1 knows only the old era.
export function wrongEra(client, mode) {
  if (mode === 'v1') return undefined;
  const version = client.getNegotiatedProtocolVersion();
  return (mode === 'legacy') === (version >= MODERN) ? `mode ${mode} ended at revision ${version}` : undefined;
}

// Everything that a list method names, over all its pages.
export async function all(list, key) {
  const found = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? undefined : { cursor });
    found.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}
