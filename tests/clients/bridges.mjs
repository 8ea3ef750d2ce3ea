// What servers of other people offer and ask, through the gateway, for an official TypeScript client.
//
// usage: bridges.mjs NODE_MODULES MODE URL SERVER...
// MODE is legacy, 2026-07-28 (version 2 of the client), or v1.

import { all, options, sdk, wrongEra } from './typescript.mjs';

const [modules, mode, url, ...servers] = process.argv.slice(2);

const everything = {
  calls: [['echo', { message: 'hi' }, 'hi']],
  asks: ['trigger-elicitation-request', 'Ada'],
  prompt: ['args-prompt', { city: 'Ulm' }, 'Ulm'],
  // Several servers offer the same addresses; those of all but the first carry its name.
  resource: [/^\w+\+demo:.*\/features\.md$/, 'Features'],
};
// Runs as a task only; the gateway waits for it.
const research = ['simulate-research-query', { topic: 'ants' }, 'Research Report'];
const OFFERS = {
  near: { ...everything, calls: [...everything.calls, research] },
  old: { ...everything, calls: [...everything.calls, research], resource: [/^(\w+\+)?demo:.*\/features\.md$/, 'Features'] },
  far: { ...everything, resource: [/^demo:.*\/features\.md$/, 'Features'] },
  python: {
    calls: [['count', {}, 'Counted.']],
    asks: ['greet', 'Hello, Ada!'],
    prompt: ['review', { topic: 'this' }, 'Review this.'],
    resource: [/^python:\/\/note$/, 'A note from Python.'],
  },
  modern: {
    calls: [['greet', { name: 'Eve' }, 'Hello, Eve!']],
    asks: ['test_input_required_result_elicitation', 'Hello, Ada!'],
    prompt: ['test_prompt_with_arguments', { arg1: 'one', arg2: 'two' }, "arg2='two'"],
    resource: [/^test:\/\/static-text$/, 'static text resource'],
  },
};

function check(holds, reason) {
  if (!holds) throw new Error(reason);
}

// Says which request went wrong; the clients' errors do not.
async function about(what, promise) {
  try {
    return await promise;
  } catch (error) {
    throw new Error(`${what}: ${error?.message ?? error}`);
  }
}

const { Client, StreamableHTTPClientTransport, ElicitRequestSchema } = sdk(modules, mode);
const client = new Client({ name: 'powerstrip-bridges', version: '1.0.0' }, options(mode, { elicitation: {} }));
let asked = 0;
client.setRequestHandler(mode === 'v1' ? ElicitRequestSchema : 'elicitation/create', async () => {
  asked += 1;
  return { action: 'accept', content: { name: 'Ada', check: true } };
});

async function call(name, args, questions, expected) {
  asked = 0;
  const result = await about(`tools/call ${name}`, client.callTool({ name, arguments: args }));
  const text = result.content.map((block) => block.text ?? '').join('\n');
  check(!result.isError && text.includes(expected), `tools/call ${name} answered ${JSON.stringify(result)}`);
  check(asked === questions, `tools/call ${name} asked ${asked} times, not ${questions}`);
}

async function main() {
  await about('connect', client.connect(new StreamableHTTPClientTransport(new URL(url))));
  const wrong = wrongEra(client, mode);
  check(!wrong, wrong);
  const tools = (await about('tools/list', all((page) => client.listTools(page), 'tools'))).map((tool) => tool.name);
  const prompts = (await about('prompts/list', all((page) => client.listPrompts(page), 'prompts'))).map((prompt) => prompt.name);
  const uris = (await about('resources/list', all((page) => client.listResources(page), 'resources'))).map((resource) => resource.uri);

  for (const server of servers) {
    const { calls, asks, prompt, resource } = OFFERS[server];
    for (const name of [...calls.map(([tool]) => tool), asks[0]]) {
      check(tools.includes(`${server}__${name}`), `tools/list names ${tools.length} tools, ${server}__${name} is not among them`);
    }
    for (const [name, args, expected] of calls) await call(`${server}__${name}`, args, 0, expected);
    await call(`${server}__${asks[0]}`, {}, 1, asks[1]);

    const [prompted, args, says] = prompt;
    const name = `${server}__${prompted}`;
    check(prompts.includes(name), `prompts/list does not name ${name}: ${prompts}`);
    const { messages } = await about(`prompts/get ${name}`, client.getPrompt({ name, arguments: args }));
    check(messages[0].content.text.includes(says), `prompts/get ${name} answered ${JSON.stringify(messages)}`);

    const [address, holds] = resource;
    const uri = uris.find((listed) => address.test(listed));
    check(uri, `resources/list has nothing like ${address}: ${uris}`);
    const { contents } = await about(`resources/read ${uri}`, client.readResource({ uri }));
    check(contents[0].uri === uri, `resources/read ${uri} answered for ${contents[0].uri}`);
    check(contents[0].text.includes(holds), `resources/read ${uri} answered ${JSON.stringify(contents).slice(0, 200)}`);
  }
  await client.close();
}

try {
  await main();
} catch (error) {
  // Version 1 puts its reasons on many lines; a verdict has one.
  console.error(String(error?.message ?? error).replace(/\s+/g, ' '));
  process.exit(1);
}
