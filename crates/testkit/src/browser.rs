//! A minimal browser for login tests: it keeps cookies per host, follows redirects and submits forms.

use std::collections::BTreeMap;

use reqwest::header::HeaderMap;
use reqwest::{Client, Method, Url, redirect};

/// A longer chain of redirects fails the test.
const MAX_REDIRECTS: usize = 20;

/// A page that the browser has loaded.
#[derive(Debug)]
pub struct Page {
    pub url: Url,
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Page {
    /// The target of its `Location` header.
    pub fn redirect(&self) -> Option<Url> {
        let location = self.headers.get("location")?.to_str().ok()?;
        self.url.join(location).ok()
    }

    /// Its form's fields, hidden ones included, URL-encoded.
    pub fn form(&self) -> String {
        let quoted = |part: &str, name: &str| {
            let (_, rest) = part.split_once(&format!("{name}=\""))?;
            Some(rest.split_once('"')?.0.to_owned())
        };
        let inputs = self.text.split("<input ").skip(1);
        let fields =
            inputs.filter_map(|input| Some((quoted(input, "name")?, quoted(input, "value")?)));
        let mut form = self.url.clone();
        form.query_pairs_mut().clear().extend_pairs(fields);
        form.query().unwrap_or_default().to_owned()
    }
}

/// One person's browser.
#[derive(Debug, Default)]
pub struct Browser {
    cookies: BTreeMap<(String, String), String>,
}

impl Browser {
    async fn send(&mut self, method: Method, url: Url, form: Option<String>) -> Page {
        let host = url.host_str().unwrap_or_default().to_owned();
        let ours = self.cookies.iter().filter(|((domain, _), _)| *domain == host);
        let cookies: Vec<_> = ours.map(|((_, name), value)| format!("{name}={value}")).collect();
        let client = Client::builder().redirect(redirect::Policy::none()).build();
        let mut request = client.expect("a client").request(method, url.clone());
        request = request.header("cookie", cookies.join("; "));
        if let Some(form) = form {
            request = request.body(form).header("origin", url.origin().ascii_serialization());
        }
        let response = request.send().await.expect("an answer");
        for cookie in response.headers().get_all("set-cookie") {
            let cookie = cookie.to_str().expect("text");
            let (name, value) =
                cookie.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            // Deletions are ignored: they are for another path, and cookies are stored here without their paths.
            if !value.is_empty() && !cookie.contains("1970") {
                self.cookies.insert((host.clone(), name.to_owned()), value.to_owned());
            }
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Page { url, status, headers, text: response.text().await.expect("a page") }
    }

    /// Loads a URL without following redirects.
    pub async fn load(&mut self, url: &str) -> Page {
        self.send(Method::GET, url.parse().expect("a URL"), None).await
    }

    /// Loads a URL and follows its redirects.
    pub async fn open(&mut self, url: &str) -> Page {
        let mut page = self.load(url).await;
        for _ in 0..MAX_REDIRECTS {
            let Some(next) = page.redirect() else { return page };
            page = self.send(Method::GET, next, None).await;
        }
        panic!("too many redirects: {}", page.url);
    }

    /// Submits the form of a page to the page's own URL.
    pub async fn submit(&mut self, page: &Page) -> Page {
        let mut action = page.url.clone();
        action.set_query(None);
        self.send(Method::POST, action, Some(page.form())).await
    }

    /// Opens the link of a login and submits its form; returns the URL of the authorization server.
    pub async fn confirm(&mut self, link: &str) -> String {
        let page = self.load(link).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let sent = self.submit(&page).await;
        assert_eq!(sent.status, 303, "{}", sent.text);
        sent.redirect().expect("a redirect").into()
    }

    /// A whole login: opens the link, confirms it here and at the authorization server, and returns.
    pub async fn log_in(&mut self, link: &str) -> Page {
        let authorize = self.confirm(link).await;
        self.open(&authorize).await
    }
}
