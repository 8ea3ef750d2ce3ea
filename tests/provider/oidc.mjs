// A real authorization server for tests: `node oidc.mjs NODE_MODULES` prints its issuer URL and serves until it is ended.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const modules = process.argv[2];
const { default: Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));

const program = (client_id) => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
});

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
    clients: [program('signed'), program('opaque'), program('gateway')],
    extraTokenClaims: () => ({ org: 'acme' }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource, client) => ({
          scope: 'tools:read tools:call',
          audience: resource,
          accessTokenFormat: client.clientId === 'signed' ? 'jwt' : 'opaque',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  server.on('request', provider.callback());
  console.log(provider.issuer);
});
