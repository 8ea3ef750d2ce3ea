// A real authorization server (oidc-provider) and an MCP server that checks its tokens, each on a port of its own.
// Usage: node provider.mjs NODE_MODULES KEY_FILE SECRET; prints one line of JSON when both listen.
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [modules, keyFile, secret] = process.argv.slice(2);
const from = (path) => import(pathToFileURL(`${modules}/${path}`));
const { Provider } = await from('oidc-provider/lib/index.js');
const jose = await from('jose/dist/webapi/index.js');

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });

const listen = (server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(`http://127.0.0.1:${server.address().port}`)));
const authServer = createServer((request, response) => Promise.resolve(app(request, response)).catch((error) => response.writeHead(500).end(String(error))));
let app = (_, response) => response.writeHead(503).end();
let serve = app;
const issuer = await listen(authServer);
const resourceServer = createServer((request, response) => serve(request, response));
const resource = `${await listen(resourceServer)}/mcp`;

const machine = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
const provider = new Provider(issuer, {
  clients: [
    { client_id: 'strip', client_secret: secret, token_endpoint_auth_method: 'client_secret_basic', ...machine },
    {
      client_id: 'keyed', token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' }] }, ...machine,
    },
  ],
  cookies: { keys: ['test'] },
  features: {
    clientCredentials: { enabled: true },
    registration: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, indicator) => {
        if (indicator !== resource) throw new Error('unknown resource');
        return { scope: 'read admin', audience: indicator, accessTokenFormat: 'jwt', accessTokenTTL: 10, jwt: { sign: { alg: 'RS256' } } };
      },
    },
  },
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  interactions: { url: (_, interaction) => `/agree/${interaction.uid}` },
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
});
const callback = provider.callback();

app = async (request, response) => {
  if (!request.url.startsWith('/agree/')) return callback(request, response);
  // A person who agrees to everything.
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  let result = { login: { accountId: 'ada' } };
  if (prompt.name === 'consent') {
    const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    for (const [indicator, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) grant.addResourceScope(indicator, scopes.join(' '));
    if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
    result = { consent: { grantId: await grant.save() } };
  }
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
};

const keys = jose.createRemoteJWKSet(new URL(`${issuer}/jwks`));
const json = (response, status, body, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

serve = async (request, response) => {
  const metadata = resource.replace('/mcp', '/.well-known/oauth-protected-resource/mcp');
  if (request.url.startsWith('/.well-known/')) return json(response, 200, { resource, authorization_servers: [issuer], scopes_supported: ['read'] });
  const challenge = (status, error, scope) => json(response, status, {}, { 'www-authenticate': `Bearer error="${error}", scope="${scope}", resource_metadata="${metadata}"` });
  let claims;
  try {
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    claims = (await jose.jwtVerify(token, keys, { issuer, audience: resource })).payload;
  } catch {
    return challenge(401, 'invalid_token', 'read');
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
  const answer = (result) => json(response, 200, { jsonrpc: '2.0', id, result });
  const scopes = (claims.scope ?? '').split(' ');
  const tool = (name) => ({ name, inputSchema: { type: 'object' } });
  if (method === 'server/discover') return answer({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
  if (method === 'tools/list') return answer({ resultType: 'complete', tools: [tool('whoami'), tool('admin')] });
  if (method !== 'tools/call') return json(response, 404, { jsonrpc: '2.0', id, error: { code: -32601, message: method } });
  if (params.name === 'admin' && !scopes.includes('admin')) return challenge(403, 'insufficient_scope', 'admin');
  const who = { sub: claims.sub ?? null, client: claims.client_id, aud: claims.aud, jti: claims.jti, scopes };
  return answer({ content: [{ type: 'text', text: JSON.stringify(who) }], structuredContent: who });
};

console.log(JSON.stringify({ issuer, url: resource }));
process.stdin.on('end', () => process.exit(0)).resume();
