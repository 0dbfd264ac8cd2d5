// Real clients drive `hagi mcp` over the full list of its tools: the official TypeScript SDK (version 1, which shakes
// hands; version 2, which speaks the current revision) and the command line of the official inspector. The SDK's clients
// check every document against the output schema of its tool.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const binary = process.env.HAGI_TEST_BINARY;
const inspector = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector-cli/build/cli.js', import.meta.url));
const node20 = Number(process.versions.node.split('.')[0]) >= 20;

// One call of every tool, in an order in which each succeeds.
const calls = [
  ['claim_host', { host_id: 'h', owner: 'a', phase: 'compile', note: 'demo', ttl_sec: 600 }],
  ['list_hosts', {}],
  ['heartbeat_host', { host_id: 'h', owner: 'a', phase: 'test' }],
  ['release_host', { host_id: 'h', owner: 'a' }],
  ['lock_acquire', { lock_id: 'l', owner: 'a', label: 'work' }],
  ['lock_accept', { lock_id: 'l', owner: 'a' }],
  ['lock_renew', { lock_id: 'l', owner: 'a', phase: 'test' }],
  ['lock_status', { lock_id: 'l', owner: 'a' }],
  ['lock_requisition', { lock_id: 'l', owner: 'b', reason: 'Ann: hotfix' }],
  ['lock_list', {}],
  ['lock_log', { limit: 5 }],
  ['lock_release', { lock_id: 'l', owner: 'b' }],
];
const names = calls.map(([name]) => name).sort();

// A folder for one store, and what it takes to use it.
function place(t) {
  const folder = mkdtempSync(join(tmpdir(), 'hagi-mcp-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const env = { ...process.env, HAGI_LOCK_STORE: join(folder, 'locks.db') };
  const shell = (...words) => JSON.parse(execFileSync(binary, ['agent', 'lock', ...words, '--json'], { env }));
  return { env, shell };
}

async function connect(t, Client, Transport, env, options = {}, args = ['mcp']) {
  const client = new Client({ name: 'hagi-test', version: '1' }, options);
  const transport = new Transport({ command: binary, args, env });
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

async function useEveryTool(client, shell) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), names);
  for (const tool of tools) {
    assert.equal(tool.inputSchema.type, 'object');
    assert.equal(typeof tool.annotations.readOnlyHint, 'boolean');
  }
  for (const [name, args] of calls) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  }
  shell('acquire', '--lock-id', 'host/h', '--owner', 'shell');
  const refused = await client.callTool({ name: 'claim_host', arguments: { host_id: 'h', owner: 'a' } });
  assert.ok(refused.isError);
  assert.match(refused.content[0].text, /^host h is claimed by shell /);
  assert.equal(refused.structuredContent.holder.owner, 'shell');

  const { structuredContent: listed } = await client.callTool({ name: 'lock_list', arguments: { all: true } });
  const expected = shell('list', '--all');
  delete listed.at;
  delete expected.at;
  for (const lock of [...listed.locks, ...expected.locks]) if (lock.holder) delete lock.holder.ageSec;
  assert.deepEqual(listed, expected);
  await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /unknown tool/);
}

test('the SDK, version 1', async (t) => {
  const { env, shell } = place(t);
  const client = await connect(t, ClientV1, StdioV1, env);
  assert.equal(client.getServerVersion().name, 'hagi');
  assert.match(client.getInstructions(), /claim_host/);
  await client.ping();
  await client.setLoggingLevel('warning');
  await useEveryTool(client, shell);
});

test('waiting with progress, and being cancelled', async (t) => {
  const { env, shell } = place(t);
  const client = await connect(t, ClientV1, StdioV1, env);
  shell('acquire', '--lock-id', 'l', '--owner', 'shell');
  const wait = { name: 'lock_acquire', arguments: { lock_id: 'l', owner: 'a', wait_sec: 50 } };

  const abort = new AbortController();
  const cancelled = client.callTool(wait, undefined, { signal: abort.signal, onprogress: () => abort.abort('enough') });
  await assert.rejects(cancelled);
  while (shell('list').locks[0].queue.length > 0);

  const granted = await client.callTool(wait, undefined, {
    onprogress: ({ message }) => {
      assert.match(message, /^Queued l place 1 of 1/);
      shell('release', '--lock-id', 'l', '--owner', 'shell');
    },
  });
  assert.equal(granted.structuredContent.status, 'Holding');
});

test('a claim that is kept alive, and the news of its loss', async (t) => {
  const { env, shell } = place(t);
  const client = await connect(t, ClientV1, StdioV1, env, {}, ['mcp', '--heartbeat']);
  const news = new Promise((resolve) => {
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => resolve(params));
  });
  await client.callTool({ name: 'claim_host', arguments: { host_id: 'h', owner: 'a' } });
  shell('requisition', '--lock-id', 'host/h', '--owner', 'ann', '--reason', 'hotfix');
  const { level, data } = await news;
  assert.equal(level, 'error');
  assert.equal(data.event, 'lost');
  assert.match(data.message, /hotfix/);
});

test('the SDK, version 2', { skip: !node20 && 'it needs node 20' }, async (t) => {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  for (const [mode, revision] of [['auto', '2026-07-28'], [{ pin: '2026-07-28' }, '2026-07-28'], ['legacy', '2025-11-25']]) {
    await t.test(`negotiation ${JSON.stringify(mode)}`, async (t) => {
      const { env, shell } = place(t);
      const client = await connect(t, Client, StdioClientTransport, env, { versionNegotiation: { mode } });
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      await useEveryTool(client, shell);
    });
  }
});

test('the command line of the inspector', async (t) => {
  const { env } = place(t);
  const inspect = async (...words) => {
    const { stdout } = await promisify(execFile)(process.execPath, [inspector, '--cli', binary, 'mcp', ...words], { env });
    return JSON.parse(stdout);
  };
  const { tools } = await inspect('--method', 'tools/list');
  assert.deepEqual(tools.map((tool) => tool.name).sort(), names);
  for (const [name, args] of calls) {
    const given = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
    const result = await inspect('--method', 'tools/call', '--tool-name', name, ...given);
    assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
    assert.ok(result.structuredContent);
  }
});
