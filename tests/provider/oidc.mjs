// A real authorization server for tests: `node oidc.mjs NODE_MODULES HOST` prints its issuer URL and serves until it is ended.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [modules, host] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));

const program = (client_id) => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
});

// People sign in to a dashboard on any port of this machine, on the provider's own pages.
const dashboard = {
  client_id: 'dashboard',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: ['http://127.0.0.1/dashboard/sign-in/callback'],
};

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const provider = new Provider(`http://${host}:${server.address().port}`, {
    clients: [program('signed'), program('opaque'), program('gateway'), dashboard],
    extraTokenClaims: () => ({ org: 'acme' }),
    issueRefreshToken: async () => true,
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource, client) => ({
          scope: 'tools:read tools:call',
          audience: resource,
          // People stay for longer than their first token.
          accessTokenTTL: client.clientId === 'dashboard' ? 5 : 600,
          accessTokenFormat: client.clientId === 'opaque' ? 'opaque' : 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  const { redirectUriAllowed } = provider.Client.prototype;
  provider.Client.prototype.redirectUriAllowed = function (uri) {
    return redirectUriAllowed.call(this, uri.replace(/^(http:\/\/127\.0\.0\.1):\d+/, '$1'));
  };
  let renewals = 0;
  provider.on('grant.success', (ctx) => { renewals += ctx.oidc.params.grant_type === 'refresh_token' ? 1 : 0; });
  const serve = provider.callback();
  server.on('request', (request, response) => request.url === '/renewals' ? response.end(String(renewals)) : serve(request, response));
  console.log(provider.issuer);
});
