//! What every page has around its content: title, the way back, scripts and style sheets, what the page may
//! do. `base.html` draws it. Knows no run.
//!
//! A page fills it like this: `frame.titled("a title").at("run").under_runs()`, keeps it as
//! the field `frame` of its template, and gives `embedded(&data)?` to `<script type="application/json"
//! id="data">{{ data|safe }}</script>`.

use serde::Serialize;

use crate::assets;
use crate::error::ViewerError;

#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// Of the window; text of others, to be escaped.
    pub(crate) title: String,
    /// Names the page for scripts (`<body data-page="run">`) and is the module that it begins with
    /// (`run.js`).
    pub(crate) page: &'static str,
    /// What a page must show to change anything: `<meta name="agon-token">`.
    pub(crate) token: String,
    /// What the page may do, for `source.js`: `<meta name="agon-capabilities" content="live review stop">`.
    pub(crate) capabilities: String,
    /// The name that whoever reviews or stops something is offered as his own: `<meta name="agon-user">`.
    pub(crate) user: String,
    /// The way from the list of runs to here, without the page itself.
    pub(crate) trail: Vec<Crumb>,
    place: Place,
}

/// Where a page stands, which decides how it names others.
#[derive(Debug, Clone)]
enum Place {
    /// A server sends it.
    Served,
    /// It is a file; the root of all of them is so many folders up (`../../`).
    Exported { root: &'static str },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crumb {
    pub(crate) text: String,
    pub(crate) href: String,
}

impl Frame {
    /// Of a page that a server sends.
    pub(crate) fn served(token: &str) -> Self {
        Self {
            title: "Agon".to_owned(),
            page: "",
            token: token.to_owned(),
            capabilities: "live review stop".to_owned(),
            user: String::new(),
            trail: Vec::new(),
            place: Place::Served,
        }
    }

    /// Of a page that is a file among others, and can change nothing.
    pub(crate) fn exported(root: &'static str) -> Self {
        Self {
            title: "Agon".to_owned(),
            page: "",
            token: String::new(),
            capabilities: String::new(),
            user: String::new(),
            trail: Vec::new(),
            place: Place::Exported { root },
        }
    }

    /// What an exported page may do: `compare` all runs, and `pairs` of them.
    pub(crate) fn able_to(mut self, capabilities: &str) -> Self {
        self.capabilities = capabilities.to_owned();
        self
    }

    pub(crate) fn offering(mut self, user: &str) -> Self {
        self.user = user.to_owned();
        self
    }

    pub(crate) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    pub(crate) fn at(mut self, page: &'static str) -> Self {
        self.page = page;
        self
    }

    /// One step further down from the list of runs.
    pub(crate) fn under(mut self, text: impl Into<String>, href: impl Into<String>) -> Self {
        self.trail.push(Crumb {
            text: text.into(),
            href: href.into(),
        });
        self
    }

    /// Where a style sheet or a script is.
    pub(crate) fn asset(&self, name: &str) -> String {
        match self.place {
            Place::Served => format!("{}/{name}", assets::base()),
            Place::Exported { root } => format!("{root}assets/{name}"),
        }
    }

    /// Browsers load no modules from a disk.
    pub(crate) fn is_served(&self) -> bool {
        matches!(self.place, Place::Served)
    }

    /// Where all files are, for `source_static.js`.
    pub(crate) fn root(&self) -> &'static str {
        match self.place {
            Place::Served => "/",
            Place::Exported { root } => root,
        }
    }

    /// The module that the page begins with; none of an error page.
    pub(crate) fn script(&self) -> Option<String> {
        (!self.page.is_empty()).then(|| self.asset(&format!("{}.js", self.page)))
    }

    /// The list of runs.
    pub(crate) fn home(&self) -> String {
        match self.place {
            Place::Served => "/".to_owned(),
            Place::Exported { root } => format!("{root}index.html"),
        }
    }

    /// The page of a run. Ids of runs need no escaping.
    pub(crate) fn run(&self, id: &str) -> String {
        match self.place {
            Place::Served => format!("/runs/{id}"),
            Place::Exported { root } => format!("{root}runs/{id}/index.html"),
        }
    }

    /// The comparison of runs.
    pub(crate) fn comparison(&self, ids: &[&str]) -> String {
        match self.place {
            Place::Served => {
                let named: Vec<String> = ids.iter().map(|id| format!("run={id}")).collect();
                format!("/compare?{}", named.join("&"))
            }
            Place::Exported { root } => format!("{root}compare/index.html"),
        }
    }

    /// One step down from the list of runs.
    pub(crate) fn under_runs(self) -> Self {
        let home = self.home();
        self.under("Runs", home)
    }

    pub(crate) fn under_run(self, id: &str) -> Self {
        let href = self.run(id);
        self.under(id, href)
    }
}

/// Data within a page: JSON that can't end the element that it stands in.
pub(crate) fn embedded(data: &impl Serialize) -> Result<String, ViewerError> {
    let json = serde_json::to_string(data)
        .map_err(|error| ViewerError::Internal(format!("a page can't be filled: {error}")))?;
    Ok(json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_element() {
        let text = embedded(&"</script><!--<script>\u{2028}").unwrap();
        assert!(!text.contains(['<', '>', '\u{2028}']), "{text}");
        let back: String = serde_json::from_str(&text).unwrap();
        assert_eq!(back, "</script><!--<script>\u{2028}");
    }

    #[test]
    fn a_page_names_its_module_and_the_way_back() {
        let frame = Frame::served("secret")
            .titled("Trial")
            .at("trial")
            .under_runs()
            .under_run("one");
        assert!(frame.script().unwrap().ends_with("/trial.js"));
        assert_eq!(frame.trail[1].href, "/runs/one");
        assert_eq!(Frame::served("secret").script(), None);
    }
}
