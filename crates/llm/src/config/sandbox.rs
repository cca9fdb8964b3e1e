//! `[sandbox]`: where an agent's commands run, for those who know it from there.

use serde_json::{Map, Value};

use super::fields::section;
use super::secret::{Confidential, Secret};

section! {
    /// Every key of `[sandbox]` with its default.
    pub Sandbox {
        base_container_image: String = "nikolaik/python-nodejs:python3.12-nodejs22".to_owned(),
        runtime_container_image: Option<String> = None,
        /// Seconds for one command.
        timeout: u64 = 120,
        /// `None`: the user's own.
        user_id: Option<u32> = None,
        enable_auto_lint: bool = false,
        initialize_plugins: bool = true,
        use_host_network: bool = false,
        runtime_binding_address: String = "0.0.0.0".to_owned(),
        additional_networks: Vec<String> = Vec::new(),
        runtime_extra_build_args: Option<Vec<String>> = None,
        runtime_extra_deps: Option<String> = None,
        /// With `SANDBOX_ENV_X` as `X`.
        runtime_startup_env_vars: Confidential = Confidential::default(),
        browsergym_eval_env: Option<String> = None,
        platform: Option<String> = None,
        force_rebuild_runtime: bool = false,
        keep_runtime_alive: bool = false,
        pause_closed_runtimes: bool = true,
        close_delay: u64 = 3_600,
        rm_all_containers: bool = false,
        enable_gpu: bool = false,
        cuda_visible_devices: Option<String> = None,
        docker_runtime_kwargs: Option<Map<String, Value>> = None,
        volumes: Option<String> = None,
        vscode_port: Option<u16> = None,
        selected_repo: Option<String> = None,
        trusted_dirs: Vec<String> = Vec::new(),
        local_runtime_url: String = "http://localhost".to_owned(),
        remote_runtime_api_url: String = "http://localhost:8000".to_owned(),
        api_key: Option<Secret> = None,
        remote_runtime_init_timeout: u64 = 180,
        remote_runtime_api_timeout: u64 = 180,
        remote_runtime_enable_retries: bool = true,
        remote_runtime_class: Option<String> = None,
        remote_runtime_resource_factor: u32 = 1,
    }
}
