//! How a function is written down: its name, what it does, its parameters, and the call.

/// Parameters after `;` may be left out and are `None` then. The name without `desktop/` is the old
/// flat one.
macro_rules! callable {
    (
        $registry:ident, $name:literal, $about:literal,
        ($($required:ident: $required_type:ty),* $(; $($optional:ident: $optional_type:ty),+)?),
        |$context:ident| $body:expr
    ) => {{
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields, expecting = "the arguments named before")]
        struct Parameters {
            $($required: $required_type,)*
            $($(#[serde(default)] $optional: Option<$optional_type>,)+)?
        }
        let names: &[&str] = &[
            $(stringify!($required),)* $($(concat!(stringify!($optional), "?"),)+)?
        ];
        let function = move |$context: &crate::registry::Context, given: Parameters| {
            let Parameters { $($required,)* $($($optional,)+)? } = given;
            $body
        };
        let callable = crate::registry::Callable::described(names.join(", "), $about, function);
        $registry.put($name, $name.strip_prefix("desktop/"), callable);
    }};
}

pub(super) use callable;
