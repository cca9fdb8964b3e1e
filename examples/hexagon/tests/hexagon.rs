//! The real game, played on real desktops and by the players of Agon.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod hexagon {
    mod desk;
    mod heavy_play;
    mod on_screen;
    mod pixels;
}
