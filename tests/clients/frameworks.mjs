// Drives the gateway with the MCP client of one JavaScript framework.
//
// usage: frameworks.mjs NODE_MODULES FRAMEWORK (http URL | stdio COMMAND ARGS...)
// Prints a line for each check: "ok CHECK", "no CHECK" if the framework has no such thing, or "FAIL CHECK reason".

import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, framework, kind, ...target] = process.argv.slice(2);
const CHECKS = ['list', 'call', 'error', 'structured', 'resource', 'prompt'];
const ECHO = 'demo_echo';
const STATS = 'text_stats';
const FAILING = 'test_error_handling';
const RESOURCE = 'test://static-text';
const PROMPT = 'test_prompt_with_arguments';

// The packages live outside the checkout.
const { resolve } = createRequire(path.join(modules, 'here.cjs'));
const load = (name) => import(pathToFileURL(resolve(name)));

const UNSUPPORTED = Symbol('the framework has no API for this');

async function langchain() {
  const { MultiServerMCPClient } = await load('@langchain/mcp-adapters');
  const gateway =
    kind === 'http' ? { transport: 'http', url: target[0] } : { transport: 'stdio', command: target[0], args: target.slice(1) };
  const client = new MultiServerMCPClient({ mcpServers: { gateway } });
  const tools = new Map((await client.getTools()).map((tool) => [tool.name, tool]));
  const invoke = (name, args) => tools.get(name).invoke({ type: 'tool_call', id: '1', name, args });
  return {
    names: () => [...tools.keys()],
    call: (name, args) => tools.get(name).invoke(args),
    async error(name) {
      try {
        const message = await invoke(name, {});
        if (message.status !== 'error') throw new Error(`not an error: ${JSON.stringify(message)}`);
        return message.content;
      } catch (error) {
        if (error.name === 'ToolException') return error.message;
        throw error;
      }
    },
    async structured(name, args) {
      const { artifact, content } = await invoke(name, args);
      const block = [artifact].flat().find((part) => part?.structuredContent ?? part?.type === 'mcp_structured_content');
      return block?.structuredContent ?? block?.data ?? JSON.parse(content);
    },
    resource: (uri) => client.readResource('gateway', uri),
    prompt: () => UNSUPPORTED,
    close: () => client.close(),
  };
}

async function aiSdk() {
  const { createMCPClient } = await load('@ai-sdk/mcp');
  let transport = { type: 'http', url: target[0] };
  if (kind === 'stdio') {
    const { Experimental_StdioMCPTransport } = await load('@ai-sdk/mcp/mcp-stdio');
    transport = new Experimental_StdioMCPTransport({ command: target[0], args: target.slice(1), stderr: 'ignore' });
  }
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  const execute = (name, args) => tools[name].execute(args, { toolCallId: '1', messages: [] });
  return {
    names: () => Object.keys(tools),
    call: execute,
    async error(name) {
      const result = await execute(name, {});
      if (!result.isError) throw new Error(`not an error: ${JSON.stringify(result)}`);
      return result;
    },
    structured: async (name, args) => (await execute(name, args)).structuredContent,
    resource: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    close: () => client.close(),
  };
}

const FRAMEWORKS = { langchain, 'ai-sdk': aiSdk };

function expect(condition, found) {
  if (!condition) throw new Error(`got ${JSON.stringify(found)}`);
}

const RUN = {
  async list(client) {
    const names = await client.names();
    const missing = [ECHO, STATS, FAILING].filter((name) => !names.includes(name));
    expect(missing.length === 0, { missing, of: names.length });
  },
  async call(client) {
    const said = JSON.stringify(await client.call(ECHO, { message: 'hello, framework' }));
    expect(said.includes('hello, framework'), said);
  },
  async error(client) {
    const said = JSON.stringify(await client.error(FAILING));
    expect(said.includes('intentionally returns an error'), said);
  },
  async structured(client) {
    const found = await client.structured(STATS, { text: 'one two three' });
    expect(found?.words === 3, found);
  },
  async resource(client) {
    const said = JSON.stringify(await client.resource(RESOURCE));
    expect(said.includes('static text'), said);
  },
  async prompt(client) {
    const found = await client.prompt(PROMPT, { arg1: 'hello', arg2: 'world' });
    if (found === UNSUPPORTED) return UNSUPPORTED;
    const said = JSON.stringify(found);
    expect(said.includes('hello') && said.includes('world'), said);
  },
};

const reason = (error) => `${error?.name}: ${String(error?.message ?? error).replace(/\s+/g, ' ').slice(0, 300)}`;
let client;
try {
  client = await FRAMEWORKS[framework]();
} catch (error) {
  for (const check of CHECKS) console.log(`FAIL ${check} ${reason(error)}`);
  process.exit();
}
for (const check of CHECKS) {
  try {
    console.log(`${(await RUN[check](client)) === UNSUPPORTED ? 'no' : 'ok'} ${check}`);
  } catch (error) {
    console.log(`FAIL ${check} ${reason(error)}`);
  }
}
await client.close();
process.exit();
