// Calls the function that a pack's script exports, for Powerstrip: once, or line by line for as long as stdin is open.
//
// The script's own `process.stdout` and `console.log` lead to stderr, so that what it prints cannot pass for a reply.
'use strict';
const fs = require('fs');
const { Readable } = require('stream');
const { pathToFileURL } = require('url');

const [how, path] = process.argv.slice(1);
const requests = process.stdin;
const nothing = Readable.from([]);
Object.defineProperty(process, 'stdout', { get: () => process.stderr });
Object.defineProperty(process, 'stdin', { get: () => nothing });

function send(text) {
  const bytes = Buffer.from(text + '\n');
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const encode = (value) => JSON.stringify(value === undefined ? null : value);

async function load() {
  const loaded = (await import(pathToFileURL(path))).default;
  const call = loaded && typeof loaded.default === 'function' ? loaded.default : loaded;
  if (typeof call !== 'function') throw new TypeError(`${path} exports no function`);
  return call;
}

async function main() {
  const call = await load();
  let rest = '';
  requests.setEncoding('utf8');
  for await (const chunk of requests) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const { id, input, meta = {} } = JSON.parse(line);
      if (how === 'once') {
        const result = await call(input, meta);
        let text;
        try {
          text = encode(result);
        } catch {
          // The function has run; this is no JSON either.
          text = 'a result that cannot be written';
        }
        send(text);
        process.exit(0);
      }
      const explain = (field) => (error) => {
        process.stderr.write(`${error && error.stack || error}\n`);
        return encode({ id, [field]: String(error) });
      };
      // A result that cannot be written is that of a call that has run.
      const write = (result) => {
        try {
          return `{"id":${id},"data":${encode(result)}}`;
        } catch (error) {
          return explain('unreadable')(error);
        }
      };
      send(await Promise.resolve().then(() => call(input, meta)).then(write, explain('failed')));
    }
  }
  process.exit(0);
}

main().catch((error) => {
  process.stderr.write(`${error && error.stack || error}\n`, () => process.exit(1));
});
