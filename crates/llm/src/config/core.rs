//! `[core]`: what a run is to do, for those who know it from there.

use std::path::PathBuf;

use agon_core::Money;

use super::fields::section;
use super::secret::{Confidential, Secret};

section! {
    /// Every key of `[core]` with its default.
    pub Core {
        default_agent: String = "CodeActAgent".to_owned(),
        /// `None`: whoever asks decides.
        runtime: Option<String> = None,
        max_iterations: u32 = 500,
        /// 0 is no limit.
        max_budget_per_task: Option<Money> = None,
        file_store: String = "local".to_owned(),
        file_store_path: PathBuf = "~/.openhands".into(),
        file_store_web_hook_url: Option<String> = None,
        file_store_web_hook_headers: Option<Confidential> = None,
        file_store_web_hook_batch: bool = false,
        save_trajectory_path: Option<PathBuf> = None,
        save_screenshots_in_trajectory: bool = false,
        replay_trajectory_path: Option<PathBuf> = None,
        enable_browser: bool = true,
        workspace_base: Option<PathBuf> = None,
        workspace_mount_path: Option<PathBuf> = None,
        workspace_mount_rewrite: Option<String> = None,
        workspace_mount_path_in_sandbox: PathBuf = "/workspace".into(),
        cache_dir: PathBuf = "/tmp/cache".into(),
        run_as_openhands: bool = true,
        init_git_in_empty_workspace: bool = false,
        debug: bool = false,
        disable_color: bool = false,
        cli_multiline_input: bool = false,
        enable_default_condenser: bool = true,
        jwt_secret: Option<Secret> = None,
        search_api_key: Option<Secret> = None,
        git_user_name: String = "openhands".to_owned(),
        git_user_email: String = "openhands@all-hands.dev".to_owned(),
        mcp_host: Option<String> = None,
        max_concurrent_conversations: u32 = 3,
        conversation_max_age_seconds: u64 = 864_000,
        client_wait_timeout: u64 = 30,
        file_uploads_max_file_size_mb: u64 = 0,
        file_uploads_restrict_file_types: bool = false,
        file_uploads_allowed_extensions: Vec<String> = vec![".*".to_owned()],
    }
}
