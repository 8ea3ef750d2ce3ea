// The patterns of the guide to workflows, with an official TypeScript client.
//
// usage: workflows.mjs NODE_MODULES MODE PREFIX CODEBASE open URL
//        workflows.mjs NODE_MODULES MODE PREFIX CODEBASE guarded URL OWNER_KEY REVIEWER_KEY
// MODE is legacy, 2026-07-28 (version 2 of the client), or v1. See workflows.py.

import assert from 'node:assert/strict';

import { all, options, sdk, wrongEra } from './typescript.mjs';

const [modules, mode, prefix, codebase, kind, url, ownerKey, reviewerKey] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport, ElicitRequestSchema } = sdk(modules, mode);
const forms = [];

function fillForm(params) {
  forms.push(params.message);
  const content = {};
  for (const [name, field] of Object.entries(params.requestedSchema.properties)) {
    const choices = field.enum ?? field.oneOf?.map((option) => option.const);
    if (choices) content[name] = choices.find((choice) => choice.includes('approve'));
    else if (field.type === 'boolean') content[name] = true;
  }
  return { action: 'accept', content };
}

// The tools, as functions: `await workflows('execute_dag', { workflow })`.
async function connect(key) {
  const client = new Client({ name: 'powerstrip-workflows', version: '1.0.0' }, options(mode, { elicitation: {} }));
  const handler = mode === 'v1' ? ElicitRequestSchema : 'elicitation/create';
  client.setRequestHandler(handler, async (request) => fillForm(request.params));
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  assert.equal(wrongEra(client, mode), undefined);
  // From the list the client learns the output schemas, against which it checks every answer.
  await all((page) => client.listTools(page), 'tools');
  const call = async (tool, args) => {
    const result = await client.callTool({ name: `${prefix}${tool}`, arguments: args });
    assert.ok(result.structuredContent, `${tool}: ${JSON.stringify(result)}`);
    assert.equal(result.isError === true, 'error' in result.structuredContent, JSON.stringify(result));
    return result.structuredContent;
  };
  call.close = () => client.close();
  return call;
}

async function refused(workflows, code, text, tool, args) {
  const answer = await workflows(tool, args);
  assert.equal(answer.error?.code, code, `${tool}: ${JSON.stringify(answer)}`);
  assert.ok(answer.error.message.includes(text), answer.error.message);
}

const search = (id, pattern, suffix) => ({
  id,
  tool: 'grep:search',
  arguments: { pattern, path: codebase, suffix },
  depends_on: [],
});
const ANALYSIS = [
  search('task-1', ': any\\b|TODO', '.ts'),
  {
    id: 'task-2',
    tool: 'analyzer:lint',
    arguments: { files: '{{ tasks.task-1.output.files }}' },
    depends_on: ['task-1'],
  },
];
const DEPLOYMENT = [
  { id: 'build', tool: 'ledger:work', arguments: { task: 'build' } },
  { id: 'deploy', tool: 'ledger:deploy', arguments: { task: 'deploy' }, depends_on: ['build'] },
];
const config = { per_layer_validation: true };

const statuses = (results) => Object.fromEntries(results.map((result) => [result.task_id, result.status]));
const output = (response, task) => response.layer_results.find((result) => result.task_id === task).output;

async function progressiveValidation(workflows) {
  let response = await workflows('execute_dag', { workflow: { tasks: ANALYSIS }, config });
  let layers = 0;
  while (response.status === 'layer_complete') {
    assert.equal(response.layer_index, layers);
    assert.match(response.checkpoint_id, /^chk_/);
    assert.deepEqual(response.options, ['continue', 'replan', 'abort']);
    assert.ok(response.layer_results.every((result) => result.status === 'success'), JSON.stringify(response));
    layers += 1;
    response = await workflows('continue', { workflow_id: response.workflow_id, reason: 'Validation passed' });
  }
  assert.equal(response.status, 'complete');
  assert.equal(layers, 2);
  assert.deepEqual(statuses(response.results), { 'task-1': 'success', 'task-2': 'success' });
  const repeated = await workflows('continue', { workflow_id: response.workflow_id });
  assert.deepEqual(repeated.results, response.results);

  // A layer that does not pass: everything stops, and what was done is reported.
  response = await workflows('execute_dag', { workflow: { tasks: ANALYSIS }, config });
  const stop = { workflow_id: response.workflow_id, reason: 'Validation failed' };
  response = await workflows('abort', stop);
  assert.equal(response.status, 'aborted');
  assert.equal(response.completed_layers, 1);
  assert.equal(response.reason, 'Validation failed');
  assert.equal(statuses(response.partial_results)['task-1'], 'success');
  assert.equal((await workflows('abort', stop)).status, 'aborted');
  await refused(workflows, -32004, 'Workflow not found or expired', 'continue', { workflow_id: response.workflow_id });
}

async function adaptiveDiscovery(workflows) {
  const first = { workflow: { tasks: [search('list', '<', '.xml')] }, config };
  let response = await workflows('execute_dag', first);
  const { workflow_id } = response;
  const found = output(response, 'list').files;
  assert.equal(found.length, 1);
  const requirement = {
    workflow_id,
    new_requirement: 'Parse XML files for configuration data',
    available_context: { discovered_files: found },
  };
  const planned = await workflows('replan', requirement);
  assert.equal(planned.status, 'replanned');
  assert.deepEqual(planned.missing, []);
  assert.deepEqual(planned.new_tasks.map((task) => task.tool), ['xml:parse@1', 'xml:validate@1']);
  response = await workflows('inject_tasks', {
    workflow_id,
    tasks: [
      { id: 'task-xml-parser', tool: 'xml:parse', arguments: { path: found[0] }, depends_on: ['list'] },
      { id: 'task-xml-validator', tool: 'xml:validate', arguments: { path: found[0] } },
    ],
  });
  assert.equal(response.status, 'replanned');
  assert.deepEqual(response.options, ['continue', 'abort']);
  assert.deepEqual(response.new_tasks.map((task) => task.id), ['task-xml-parser', 'task-xml-validator']);
  response = await workflows('continue', { workflow_id });
  assert.equal(response.status, 'layer_complete');
  assert.equal(response.layer_index, 1);
  assert.equal(output(response, 'task-xml-parser').root, 'config');
  assert.equal(output(response, 'task-xml-validator').valid, true);
  response = await workflows('continue', { workflow_id });
  assert.equal(response.status, 'complete');
  assert.equal(response.results.length, 5);
}

// `approve` answers an approval checkpoint and returns the next response.
async function approvalGates(workflows, approve, approved) {
  let response = await workflows('execute_dag', { workflow: { tasks: DEPLOYMENT }, config });
  let asked = 0;
  while (response.status === 'layer_complete') {
    if (response.checkpoint_type === 'approval_required') {
      asked += 1;
      assert.ok(response.decision_context.includes('deploy'), response.decision_context);
      assert.deepEqual(response.decisions.map((decision) => decision.task_id), ['deploy']);
      assert.deepEqual(response.options, ['approval_response', 'abort']);
      response = await approve(response, approved);
      if (!approved) break;
    } else {
      response = await workflows('continue', { workflow_id: response.workflow_id });
    }
  }
  assert.equal(asked, 1);
  if (approved) {
    assert.equal(response.status, 'complete');
    assert.deepEqual(statuses(response.results), { build: 'success', deploy: 'success' });
    return;
  }
  assert.equal(response.status, 'rejected');
  assert.equal(response.feedback, 'Too risky for production');
  const ended = await workflows('abort', { workflow_id: response.workflow_id, reason: 'rejected' });
  const results = statuses(ended.partial_results);
  assert.equal(results.build, 'success');
  assert.equal(results.deploy, 'failed');
}

const decision = (response, approved) => ({
  workflow_id: response.workflow_id,
  checkpoint_id: response.checkpoint_id,
  approved,
  feedback: approved ? '' : 'Too risky for production',
});

async function completeExample(workflows) {
  const intent = 'Analyze TypeScript codebase for issues';
  const planned = await workflows('execute_dag', { intent, config });
  assert.equal(planned.status, 'planned');
  assert.ok(planned.missing.length > 0, JSON.stringify(planned));
  await refused(workflows, -32602, 'missing', 'continue', { workflow_id: planned.workflow_id });
  await workflows('abort', { workflow_id: planned.workflow_id, reason: 'Only planned' });
  let response = await workflows('execute_dag', { workflow: { tasks: ANALYSIS }, config });
  let deepened = false;
  while (response.status === 'layer_complete') {
    const { workflow_id } = response;
    const lint = response.layer_results.find((result) => result.task_id === 'task-2');
    const issues = lint?.output.issues ?? [];
    if (issues.length > 0 && !deepened) {
      deepened = true;
      const files = [...new Set(issues.map((issue) => issue.file))].sort();
      const deep = {
        id: 'deep',
        tool: 'analyzer:lint',
        for_each: files,
        arguments: { files: ['{{ item }}'] },
        depends_on: ['task-2'],
      };
      response = await workflows('inject_tasks', { workflow_id, tasks: [deep] });
      assert.equal(response.status, 'replanned');
      response = await workflows('continue', { workflow_id, reason: 'Added deep analysis tasks' });
    } else {
      response = await workflows('continue', { workflow_id });
    }
  }
  assert.equal(response.status, 'complete');
  assert.ok(deepened);
  const deep = response.results.find((result) => result.task_id === 'deep');
  assert.ok(deep.output.every((item) => item.checked === 1 && item.issues.length > 0), JSON.stringify(deep));
}

async function openGateway() {
  const workflows = await connect();
  await progressiveValidation(workflows);
  await adaptiveDiscovery(workflows);
  const byForm = async (response, approved) => {
    forms.length = 0;
    const answer = await workflows('approval_response', decision(response, approved));
    // A rejection needs no right, so no person is asked.
    assert.equal(forms.length, approved ? 1 : 0);
    return answer;
  };
  await approvalGates(workflows, byForm, true);
  await approvalGates(workflows, byForm, false);
  await completeExample(workflows);
  await workflows.close();
}

async function guardedGateway() {
  const [workflows, second] = [await connect(ownerKey), await connect(reviewerKey)];
  const bySecondPerson = async (response, approved) => {
    await refused(workflows, -32003, '', 'approval_response', decision(response, true));
    assert.equal(forms.length, 0);
    return await second('approval_response', decision(response, approved));
  };
  await approvalGates(workflows, bySecondPerson, true);
  await approvalGates(workflows, bySecondPerson, false);
  // Another caller of the tenant does not see the workflow.
  const { workflow_id } = await workflows('execute_dag', { workflow: { tasks: ANALYSIS }, config });
  await refused(second, -32004, 'Workflow not found or expired', 'continue', { workflow_id });
  await workflows('abort', { workflow_id, reason: 'done' });
  await workflows.close();
  await second.close();
}

try {
  await (kind === 'open' ? openGateway() : guardedGateway());
} catch (error) {
  // Version 1 puts its reasons on many lines; a verdict has one.
  const place = String(error?.stack ?? '').match(/workflows\.mjs:\d+/)?.[0] ?? '';
  console.error(`${place} ${String(error?.message ?? error)}`.replace(/\s+/g, ' '));
  process.exit(1);
}
