//! A small survival game: walls with gaps close in on the centre, and who turns there must be in a
//! gap when they arrive. The rules ([`world`], [`game`]) know no pixels, drawing ([`scene`]) knows no
//! X server, and only [`window`] and [`run`] do. Knows nothing of agents or of Agon.

pub mod canvas;
pub mod error;
pub mod font;
pub mod game;
pub mod options;
pub mod pacing;
pub mod rows;
pub mod run;
pub mod scene;
pub mod score;
pub mod score_file;
pub mod seed;
pub mod window;
pub mod world;

pub use error::HexagonError;
