//! The keys that code names: `Key::Right`. All others have a name for `parse`.

use super::Key;

#[expect(
    non_upper_case_globals,
    reason = "they read as the variants of an enum, which a set of thousands of keys can't be"
)]
impl Key {
    pub const Backspace: Self = Self::known(0xff08);
    pub const Tab: Self = Self::known(0xff09);
    pub const Return: Self = Self::known(0xff0d);
    pub const Enter: Self = Self::known(0xff0d);
    pub const Escape: Self = Self::known(0xff1b);
    pub const Space: Self = Self::known(0x20);
    pub const Delete: Self = Self::known(0xffff);
    pub const Insert: Self = Self::known(0xff63);
    pub const Home: Self = Self::known(0xff50);
    pub const End: Self = Self::known(0xff57);
    pub const PageUp: Self = Self::known(0xff55);
    pub const PageDown: Self = Self::known(0xff56);
    pub const Left: Self = Self::known(0xff51);
    pub const Up: Self = Self::known(0xff52);
    pub const Right: Self = Self::known(0xff53);
    pub const Down: Self = Self::known(0xff54);
    pub const Shift: Self = Self::known(0xffe1);
    pub const ShiftRight: Self = Self::known(0xffe2);
    pub const Control: Self = Self::known(0xffe3);
    pub const ControlRight: Self = Self::known(0xffe4);
    pub const Alt: Self = Self::known(0xffe9);
    pub const AltRight: Self = Self::known(0xffea);
    pub const AltGr: Self = Self::known(0xfe03);
    pub const Super: Self = Self::known(0xffeb);
    pub const SuperRight: Self = Self::known(0xffec);
    pub const Menu: Self = Self::known(0xff67);
    pub const CapsLock: Self = Self::known(0xffe5);
    pub const NumLock: Self = Self::known(0xff7f);
    pub const ScrollLock: Self = Self::known(0xff14);
    pub const PrintScreen: Self = Self::known(0xff61);
    pub const Pause: Self = Self::known(0xff13);
    pub const F1: Self = Self::known(0xffbe);
    pub const F2: Self = Self::known(0xffbf);
    pub const F3: Self = Self::known(0xffc0);
    pub const F4: Self = Self::known(0xffc1);
    pub const F5: Self = Self::known(0xffc2);
    pub const F6: Self = Self::known(0xffc3);
    pub const F7: Self = Self::known(0xffc4);
    pub const F8: Self = Self::known(0xffc5);
    pub const F9: Self = Self::known(0xffc6);
    pub const F10: Self = Self::known(0xffc7);
    pub const F11: Self = Self::known(0xffc8);
    pub const F12: Self = Self::known(0xffc9);
    pub const F13: Self = Self::known(0xffca);
    pub const F14: Self = Self::known(0xffcb);
    pub const F15: Self = Self::known(0xffcc);
    pub const F16: Self = Self::known(0xffcd);
    pub const F17: Self = Self::known(0xffce);
    pub const F18: Self = Self::known(0xffcf);
    pub const F19: Self = Self::known(0xffd0);
    pub const F20: Self = Self::known(0xffd1);
    pub const F21: Self = Self::known(0xffd2);
    pub const F22: Self = Self::known(0xffd3);
    pub const F23: Self = Self::known(0xffd4);
    pub const F24: Self = Self::known(0xffd5);
}
