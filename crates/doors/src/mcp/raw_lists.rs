//! Lists with fields that the library's types do not have: those are added to what the library answers. Over HTTP the
//! lists are answered directly.

use std::borrow::Cow;

use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, ErrorData, ProtocolVersion, ServerConfig,
    ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};

use super::handler::Handler;

/// A handler whose lists have all fields that servers wrote.
pub(crate) struct RawLists(pub(crate) Handler);

impl Service<RoleServer> for RawLists {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let client = match &request {
            ClientRequest::ListToolsRequest(_) => self.0.client(&context).ok(),
            _ => None,
        };
        let result = Service::handle_request(&self.0, request, context).await?;
        let whole = match (&result, client) {
            (ServerResult::ListToolsResult(page), Some(client)) => {
                self.0.state.listing.with_extra(&self.0.state.strip, &client, page)
            }
            _ => None,
        };
        Ok(whole.map_or(result, |whole| ServerResult::CustomResult(CustomResult(whole))))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
