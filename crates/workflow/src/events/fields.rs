//! Makes the structs of one event type from a list of their keys, as the original lists them: those that
//! must be given, and those that have a default. Their order is the order on disk.

macro_rules! fields {
    ($(
        $(#[$about:meta])*
        $name:ident = $kind:literal {
            $($(#[$needs:meta])* $must:ident: $must_type:ty,)*
            ; $($(#[$has:meta])* $may:ident: $may_type:ty = $default:expr,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $($(#[$needs])* pub $must: $must_type,)*
            $($(#[$has])* pub $may: $may_type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($must: Default::default(),)*
                    $($may: $default,)*
                }
            }
        }

        impl $name {
            pub const TYPE: &'static str = $kind;
            /// Keys without which it means nothing.
            pub(super) const REQUIRED: &'static [&'static str] = &[$(stringify!($must)),*];
        }
    )*};
}

/// The enum over all of them, and what it knows of their types.
macro_rules! kinds {
    ($(#[$about:meta])* $name:ident { $($variant:ident($of:ident),)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {
            $($variant($of),)*
        }

        impl $name {
            /// All types, as the files name them.
            pub const TYPES: &'static [&'static str] = &[$($of::TYPE),*];

            /// As the files name it.
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $of::TYPE,)* }
            }

            pub(super) fn fields<S: serde::ser::SerializeMap>(
                &self, key: &'static str, map: &mut S,
            ) -> Result<(), S::Error> {
                match self { $(Self::$variant(fields) => map.serialize_entry(key, fields),)* }
            }

            /// `None`: there is no such type.
            pub(super) fn read(
                kind: &str,
                fields: serde_json::Map<String, serde_json::Value>,
            ) -> Option<Result<Self, super::EventError>> {
                $(if kind == $of::TYPE {
                    let read = super::json::typed($of::TYPE, $of::REQUIRED, fields);
                    return Some(read.map(Self::$variant));
                })*
                None
            }
        }

        $(impl From<$of> for $name {
            fn from(fields: $of) -> Self {
                Self::$variant(fields)
            }
        })*
    };
}

pub(super) use {fields, kinds};
