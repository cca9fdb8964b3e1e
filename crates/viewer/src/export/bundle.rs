//! Makes one classic script of ES modules: browsers load no modules from a disk. Understands the plain
//! forms that our own modules use and refuses everything else: `import {a, b as c} from "./x.js";` on one
//! line, and `export` before a declaration at the beginning of a line. What is imported must be there, and
//! stays as it is: a variable that changes can't be exported.

use std::collections::HashMap;

use crate::error::ViewerError;

/// Finds a module by its name.
pub(super) type Read<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The module `entry` with everything that it imports; `replaced` names modules that stand in for others.
pub(super) fn bundle(
    read: &Read<'_>,
    replaced: &HashMap<&str, &str>,
    entry: &str,
) -> Result<String, ViewerError> {
    let mut bundle = Bundle {
        read,
        replaced,
        done: HashMap::new(),
        open: Vec::new(),
        text: String::from("\"use strict\";\n(() => {\n"),
    };
    bundle.add(entry)?;
    bundle.text.push_str("})();\n");
    Ok(bundle.text)
}

struct Bundle<'r, 'f> {
    read: &'r Read<'f>,
    replaced: &'r HashMap<&'r str, &'r str>,
    /// Modules that stand in the text, and what they export.
    done: HashMap<String, Vec<String>>,
    /// Modules whose imports are being added.
    open: Vec<String>,
    text: String,
}

/// What a module takes and gives.
#[derive(Debug, Default)]
struct Module {
    imports: Vec<(Vec<Taken>, String)>,
    exports: Vec<String>,
    body: String,
}

/// A name that a module takes, and what it calls it.
#[derive(Debug)]
struct Taken {
    name: String,
    called: Option<String>,
}

impl Taken {
    fn read(text: &str) -> Self {
        let (name, called) = match text.split_once(" as ") {
            Some((name, called)) => (name, Some(called.trim().to_owned())),
            None => (text, None),
        };
        Self {
            name: name.trim().to_owned(),
            called,
        }
    }

    fn text(&self) -> String {
        match &self.called {
            Some(called) => format!("{}: {called}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Bundle<'_, '_> {
    fn add(&mut self, name: &str) -> Result<(), ViewerError> {
        if self.done.contains_key(name) {
            return Ok(());
        }
        if self.open.iter().any(|open| open == name) {
            return Err(odd(name, "modules import each other"));
        }
        self.open.push(name.to_owned());
        let file = self.replaced.get(name).copied().unwrap_or(name);
        let text = (self.read)(file).ok_or_else(|| odd(file, "there is no such module"))?;
        let module = parse(name, &text)?;
        for (names, from) in &module.imports {
            self.add(from)?;
            let there = self.done.get(from);
            for taken in names {
                if !there.is_some_and(|there| there.contains(&taken.name)) {
                    return Err(odd(name, &format!("{from} has no {}", taken.name)));
                }
            }
        }
        self.open.pop();
        let text = &mut self.text;
        text.push_str(&format!("const {} = (() => {{\n", variable(name)));
        for (names, from) in &module.imports {
            let names: Vec<String> = names.iter().map(Taken::text).collect();
            let names = names.join(", ");
            text.push_str(&format!("const {{{names}}} = {};\n", variable(from)));
        }
        text.push_str(&module.body);
        text.push_str(&format!(
            "return {{{}}};\n}})();\n",
            module.exports.join(", ")
        ));
        self.done.insert(name.to_owned(), module.exports);
        Ok(())
    }
}

/// How a module is called in the script.
fn variable(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let stem = name.trim_end_matches(".js");
    format!("module_{}", stem.chars().map(plain).collect::<String>())
}

fn parse(name: &str, text: &str) -> Result<Module, ViewerError> {
    let mut module = Module::default();
    for line in text.lines() {
        if let Some(import) = line.strip_prefix("import ") {
            let parts = import
                .strip_prefix('{')
                .and_then(|rest| rest.split_once("} from \"./"))
                .and_then(|(names, from)| Some((names, from.strip_suffix("\";")?)));
            let (names, from) = parts.ok_or_else(|| odd(name, line))?;
            let names = names.split(',').map(Taken::read).collect();
            module.imports.push((names, from.to_owned()));
            continue;
        }
        if line.contains("import(") || line.contains("import.meta") {
            return Err(odd(name, line));
        }
        let declared = line.strip_prefix("export ");
        if let Some(declaration) = declared {
            let exported = declared_name(declaration).ok_or_else(|| odd(name, line))?;
            module.exports.push(exported.to_owned());
        }
        module.body.push_str(declared.unwrap_or(line));
        module.body.push('\n');
    }
    Ok(module)
}

fn declared_name(declaration: &str) -> Option<&str> {
    let forms = [
        "async function* ",
        "async function ",
        "function* ",
        "function ",
        "class ",
        "const ",
    ];
    let rest = forms
        .iter()
        .find_map(|form| declaration.strip_prefix(form))?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
    let name = &rest[..end.unwrap_or(rest.len())];
    (!name.is_empty()).then_some(name)
}

fn odd(name: &str, what: &str) -> ViewerError {
    ViewerError::Internal(format!("{name} can't be made part of one script: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(modules: &[(&str, &str)], entry: &str) -> Result<String, ViewerError> {
        let modules: HashMap<String, String> = modules
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        let read = |name: &str| modules.get(name).cloned();
        bundle(
            &read,
            &HashMap::from([("source.js", "source_static.js")]),
            entry,
        )
    }

    #[test]
    fn what_is_imported_comes_first_and_once() {
        let text = made(
            &[
                (
                    "a.js",
                    "import {b} from \"./b.js\";\nimport {c as d} from \"./c.js\";\nd(b);\n",
                ),
                (
                    "b.js",
                    "import {c} from \"./c.js\";\nexport const b = c();\n",
                ),
                ("c.js", "export function c() { return 1; }\n"),
            ],
            "a.js",
        )
        .unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_module_can_be_replaced() {
        let modules = [
            ("a.js", "import {get} from \"./source.js\";\nget();\n"),
            ("source.js", "export function get() { return 1; }\n"),
            (
                "source_static.js",
                "export async function get() { return 2; }\n",
            ),
        ];
        let text = made(&modules, "a.js").unwrap();
        assert!(
            text.contains("return 2") && !text.contains("return 1"),
            "{text}"
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for bad in [
            "import a from \"./b.js\";",
            "import * as a from \"./b.js\";",
            "import \"./b.js\";",
            "export default function () {}",
            "export { a };",
            "export * from \"./b.js\";",
            "export let a = 1;",
            "const a = import(\"./b.js\");",
            "const a = import.meta.url;",
            "import {a} from \"./b.js\";",
        ] {
            let modules = [("a.js", bad), ("b.js", "")];
            assert!(made(&modules, "a.js").is_err(), "{bad}");
        }
        let circle = [
            ("a.js", "import {b} from \"./b.js\";"),
            ("b.js", "import {a} from \"./a.js\";"),
        ];
        assert!(made(&circle, "a.js").is_err());
        assert!(made(&[], "a.js").is_err());
    }
}
