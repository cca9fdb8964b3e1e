//! Temporary.
mod desktop {
    #[path = "probe.rs"]
    mod probe;
    #[path = "registry.rs"]
    mod registry;
}
