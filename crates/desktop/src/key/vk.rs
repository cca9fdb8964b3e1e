//! Windows' virtual keys and the X keysyms they stand for, both ways. Numbers only: how a user
//! writes them is the business of `names`.

use crate::error::DesktopError;

/// The numbers of the virtual keys by their Windows names: `Vk::RIGHT`, `Vk::SPACE`, `Vk::F10`.
#[derive(Debug)]
pub enum Vk {}

/// A virtual key that X has no counterpart for.
const NONE: u32 = 0;

macro_rules! virtual_keys {
    ($($name:ident $number:literal $keysym:expr;)*) => {
        impl Vk {
            $(pub const $name: u16 = $number;)*
        }
        /// Name, virtual key, keysym.
        const TABLE: &[(&str, u16, u32)] = &[$((stringify!($name), $number, $keysym)),*];
    };
}

virtual_keys! {
    LBUTTON 0x01 NONE; RBUTTON 0x02 NONE; CANCEL 0x03 0xff69; MBUTTON 0x04 NONE;
    XBUTTON1 0x05 NONE; XBUTTON2 0x06 NONE;
    BACK 0x08 0xff08; BACKSPACE 0x08 0xff08; TAB 0x09 0xff09; CLEAR 0x0c 0xff0b;
    RETURN 0x0d 0xff0d; ENTER 0x0d 0xff0d;
    SHIFT 0x10 0xffe1; CONTROL 0x11 0xffe3; CTRL 0x11 0xffe3; MENU 0x12 0xffe9; ALT 0x12 0xffe9;
    PAUSE 0x13 0xff13; CAPITAL 0x14 0xffe5; CAPSLOCK 0x14 0xffe5;
    HANGUL 0x15 0xff31; HANGUEL 0x15 0xff31; KANA 0x15 0xff31; IME_ON 0x16 NONE;
    JUNJA 0x17 0xff38; FINAL 0x18 NONE; KANJI 0x19 0xff21; HANJA 0x19 0xff21; IME_OFF 0x1a NONE;
    ESCAPE 0x1b 0xff1b; ESC 0x1b 0xff1b; CONVERT 0x1c 0xff23; NONCONVERT 0x1d 0xff22;
    ACCEPT 0x1e NONE; MODECHANGE 0x1f 0xff7e;
    SPACE 0x20 0x20; PRIOR 0x21 0xff55; PAGE_UP 0x21 0xff55; NEXT 0x22 0xff56;
    PAGE_DOWN 0x22 0xff56; END 0x23 0xff57; HOME 0x24 0xff50;
    LEFT 0x25 0xff51; UP 0x26 0xff52; RIGHT 0x27 0xff53; DOWN 0x28 0xff54;
    SELECT 0x29 0xff60; PRINT 0x2a 0xfd1d; EXECUTE 0x2b 0xff62; SNAPSHOT 0x2c 0xff61;
    INSERT 0x2d 0xff63; DELETE 0x2e 0xffff; HELP 0x2f 0xff6a;
    KEY_0 0x30 0x30; KEY_1 0x31 0x31; KEY_2 0x32 0x32; KEY_3 0x33 0x33; KEY_4 0x34 0x34;
    KEY_5 0x35 0x35; KEY_6 0x36 0x36; KEY_7 0x37 0x37; KEY_8 0x38 0x38; KEY_9 0x39 0x39;
    A 0x41 0x61; B 0x42 0x62; C 0x43 0x63; D 0x44 0x64; E 0x45 0x65; F 0x46 0x66; G 0x47 0x67;
    H 0x48 0x68; I 0x49 0x69; J 0x4a 0x6a; K 0x4b 0x6b; L 0x4c 0x6c; M 0x4d 0x6d; N 0x4e 0x6e;
    O 0x4f 0x6f; P 0x50 0x70; Q 0x51 0x71; R 0x52 0x72; S 0x53 0x73; T 0x54 0x74; U 0x55 0x75;
    V 0x56 0x76; W 0x57 0x77; X 0x58 0x78; Y 0x59 0x79; Z 0x5a 0x7a;
    KEY_A 0x41 0x61; KEY_B 0x42 0x62; KEY_C 0x43 0x63; KEY_D 0x44 0x64; KEY_E 0x45 0x65;
    KEY_F 0x46 0x66; KEY_G 0x47 0x67; KEY_H 0x48 0x68; KEY_I 0x49 0x69; KEY_J 0x4a 0x6a;
    KEY_K 0x4b 0x6b; KEY_L 0x4c 0x6c; KEY_M 0x4d 0x6d; KEY_N 0x4e 0x6e; KEY_O 0x4f 0x6f;
    KEY_P 0x50 0x70; KEY_Q 0x51 0x71; KEY_R 0x52 0x72; KEY_S 0x53 0x73; KEY_T 0x54 0x74;
    KEY_U 0x55 0x75; KEY_V 0x56 0x76; KEY_W 0x57 0x77; KEY_X 0x58 0x78; KEY_Y 0x59 0x79;
    KEY_Z 0x5a 0x7a;
    LWIN 0x5b 0xffeb; RWIN 0x5c 0xffec; APPS 0x5d 0xff67; SLEEP 0x5f 0x1008_ff2f;
    NUMPAD0 0x60 0xffb0; NUMPAD1 0x61 0xffb1; NUMPAD2 0x62 0xffb2; NUMPAD3 0x63 0xffb3;
    NUMPAD4 0x64 0xffb4; NUMPAD5 0x65 0xffb5; NUMPAD6 0x66 0xffb6; NUMPAD7 0x67 0xffb7;
    NUMPAD8 0x68 0xffb8; NUMPAD9 0x69 0xffb9; MULTIPLY 0x6a 0xffaa; ADD 0x6b 0xffab;
    SEPARATOR 0x6c 0xffac; SUBTRACT 0x6d 0xffad; DECIMAL 0x6e 0xffae; DIVIDE 0x6f 0xffaf;
    F1 0x70 0xffbe; F2 0x71 0xffbf; F3 0x72 0xffc0; F4 0x73 0xffc1; F5 0x74 0xffc2;
    F6 0x75 0xffc3; F7 0x76 0xffc4; F8 0x77 0xffc5; F9 0x78 0xffc6; F10 0x79 0xffc7;
    F11 0x7a 0xffc8; F12 0x7b 0xffc9; F13 0x7c 0xffca; F14 0x7d 0xffcb; F15 0x7e 0xffcc;
    F16 0x7f 0xffcd; F17 0x80 0xffce; F18 0x81 0xffcf; F19 0x82 0xffd0; F20 0x83 0xffd1;
    F21 0x84 0xffd2; F22 0x85 0xffd3; F23 0x86 0xffd4; F24 0x87 0xffd5;
    NUMLOCK 0x90 0xff7f; SCROLL 0x91 0xff14; OEM_NEC_EQUAL 0x92 0xffbd;
    OEM_FJ_MASSHOU 0x93 0xff2c; OEM_FJ_TOUROKU 0x94 0xff2b;
    LSHIFT 0xa0 0xffe1; RSHIFT 0xa1 0xffe2; LCONTROL 0xa2 0xffe3; RCONTROL 0xa3 0xffe4;
    LMENU 0xa4 0xffe9; RMENU 0xa5 0xffea;
    BROWSER_BACK 0xa6 0x1008_ff26; BROWSER_FORWARD 0xa7 0x1008_ff27;
    BROWSER_REFRESH 0xa8 0x1008_ff29; BROWSER_STOP 0xa9 0x1008_ff28;
    BROWSER_SEARCH 0xaa 0x1008_ff1b; BROWSER_FAVORITES 0xab 0x1008_ff30;
    BROWSER_HOME 0xac 0x1008_ff18; VOLUME_MUTE 0xad 0x1008_ff12; VOLUME_DOWN 0xae 0x1008_ff11;
    VOLUME_UP 0xaf 0x1008_ff13; MEDIA_NEXT_TRACK 0xb0 0x1008_ff17;
    MEDIA_PREV_TRACK 0xb1 0x1008_ff16; MEDIA_STOP 0xb2 0x1008_ff15;
    MEDIA_PLAY_PAUSE 0xb3 0x1008_ff14; LAUNCH_MAIL 0xb4 0x1008_ff19;
    LAUNCH_MEDIA_SELECT 0xb5 0x1008_ff32; LAUNCH_APP1 0xb6 0x1008_ff33;
    LAUNCH_APP2 0xb7 0x1008_ff1d;
    OEM_1 0xba 0x3b; OEM_PLUS 0xbb 0x3d; OEM_COMMA 0xbc 0x2c; OEM_MINUS 0xbd 0x2d;
    OEM_PERIOD 0xbe 0x2e; OEM_2 0xbf 0x2f; OEM_3 0xc0 0x60; OEM_4 0xdb 0x5b; OEM_5 0xdc 0x5c;
    OEM_6 0xdd 0x5d; OEM_7 0xde 0x27; OEM_8 0xdf NONE; OEM_102 0xe2 0x3c;
    PROCESSKEY 0xe5 NONE; PACKET 0xe7 NONE;
    OEM_ATTN 0xf0 0xff30; OEM_FINISH 0xf1 0xff26; OEM_COPY 0xf2 0xff25; OEM_AUTO 0xf3 0xff28;
    OEM_ENLW 0xf4 0xff29; OEM_BACKTAB 0xf5 0xff24; ATTN 0xf6 0xfd0e; CRSEL 0xf7 0xfd1c;
    EXSEL 0xf8 0xfd1b; EREOF 0xf9 0xfd06; PLAY 0xfa 0xfd16; ZOOM 0xfb NONE; NONAME 0xfc NONE;
    PA1 0xfd 0xfd0a; OEM_CLEAR 0xfe 0x1008_ff55;
}

/// Keysyms that share a virtual key with another one: the shifted characters of the American layout,
/// the keypad without its lock, names of the same key in other countries.
const MORE: &[(u16, &[u32])] = &[
    (0x31, &[0x21]),
    (0x32, &[0x40]),
    (0x33, &[0x23]),
    (0x34, &[0x24]),
    (0x35, &[0x25]),
    (0x36, &[0x5e]),
    (0x37, &[0x26]),
    (0x38, &[0x2a]),
    (0x39, &[0x28]),
    (0x30, &[0x29]),
    (0xbd, &[0x5f]),
    (0xbb, &[0x2b]),
    (0xdb, &[0x7b]),
    (0xdd, &[0x7d]),
    (0xdc, &[0x7c]),
    (0xba, &[0x3a]),
    (0xde, &[0x22]),
    (0xc0, &[0x7e]),
    (0xbe, &[0x3e]),
    (0xbf, &[0x3f]),
    (0x24, &[0xff95]),
    (0x25, &[0xff96]),
    (0x26, &[0xff97]),
    (0x27, &[0xff98]),
    (0x28, &[0xff99]),
    (0x21, &[0xff9a]),
    (0x22, &[0xff9b]),
    (0x23, &[0xff9c]),
    (0x0c, &[0xff9d]),
    (0x2d, &[0xff9e]),
    (0x2e, &[0xff9f]),
    (0x0d, &[0xff8d]),
    (0x09, &[0xff89, 0xfe20]),
    (0x20, &[0xff80]),
    (0x03, &[0xff6b]),
    (0x2c, &[0xff15]),
    (0x14, &[0xffe6]),
    (0xa4, &[0xffe7]),
    (0xa5, &[0xffe8, 0xfe03]),
    (0x15, &[0xff2d, 0xff2e, 0xff27]),
    (0x19, &[0xff34]),
    (0xa8, &[0x1008_ff73]),
];

/// The keysym of a virtual key.
pub(super) fn keysym_of(vk: u16) -> Result<u32, DesktopError> {
    if let Some(button) = mouse_button(vk) {
        return Err(DesktopError::Invalid(format!(
            "virtual key {vk:#04x} is the {button} button of the mouse, no key: press it with the mouse"
        )));
    }
    TABLE
        .iter()
        .find(|(_, number, _)| *number == vk)
        .map(|(_, _, keysym)| *keysym)
        .filter(|keysym| *keysym != NONE)
        .ok_or_else(|| {
            DesktopError::Invalid(format!(
                "virtual key {vk:#04x} has no counterpart on this desktop: give the key by its name"
            ))
        })
}

/// The virtual key of a keysym. Modifiers are the left or right one, as Windows reports them to
/// those who listen; letters have one number, whatever their case.
pub(super) fn vk_of(keysym: u32) -> Option<u16> {
    let keysym = match keysym {
        0x41..=0x5a => keysym + 0x20,
        _ => keysym,
    };
    let sided = |vk: &u16| !matches!(*vk, Vk::SHIFT | Vk::CONTROL | Vk::MENU);
    let listed = |(_, vk, of): &(&str, u16, u32)| (*of == keysym).then_some(*vk);
    TABLE.iter().filter_map(listed).find(sided).or_else(|| {
        let more = MORE.iter().find(|(_, of)| of.contains(&keysym));
        more.map(|(vk, _)| *vk)
    })
}

/// The number of a virtual key by its Windows name without `VK_`, in capitals.
pub(super) fn by_name(name: &str) -> Option<u16> {
    let digit = match name.as_bytes() {
        [digit @ b'0'..=b'9'] => Some(u16::from(*digit)),
        _ => None,
    };
    digit.or_else(|| {
        TABLE
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, vk, _)| *vk)
    })
}

fn mouse_button(vk: u16) -> Option<&'static str> {
    Some(match vk {
        Vk::LBUTTON => "left",
        Vk::RBUTTON => "right",
        Vk::MBUTTON => "middle",
        Vk::XBUTTON1 => "first side",
        Vk::XBUTTON2 => "second side",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_windows() {
        assert_eq!(
            (Vk::RIGHT, Vk::SPACE, Vk::F10, Vk::Z),
            (0x27, 0x20, 0x79, 0x5a)
        );
        assert_eq!(by_name("5"), Some(0x35));
        assert_eq!(by_name("OEM_CLEAR"), Some(0xfe));
        assert_eq!(by_name("right"), None);
    }

    #[test]
    fn there_and_back() {
        for &(name, vk, keysym) in TABLE.iter().filter(|(_, _, keysym)| *keysym != NONE) {
            assert_eq!(keysym_of(vk).unwrap(), keysym, "{name}");
            let back = vk_of(keysym).unwrap();
            let expected = match vk {
                Vk::SHIFT => Vk::LSHIFT,
                Vk::CONTROL => Vk::LCONTROL,
                Vk::MENU => Vk::LMENU,
                other => other,
            };
            assert_eq!(back, expected, "{name}");
        }
    }

    #[test]
    fn one_name_has_one_number_and_one_number_one_keysym() {
        for (at, &(name, vk, keysym)) in TABLE.iter().enumerate() {
            for &(other, other_vk, other_keysym) in &TABLE[at + 1..] {
                assert_ne!(name, other);
                assert!(vk != other_vk || keysym == other_keysym, "{name} {other}");
            }
        }
        for (vk, keysyms) in MORE {
            let shared = TABLE.iter().find(|(_, _, of)| keysyms.contains(of));
            assert_eq!(shared, None);
            assert!(TABLE.iter().any(|(_, of, _)| of == vk), "{vk:#x}");
        }
    }

    #[test]
    fn buttons_of_the_mouse_are_no_keys() {
        for vk in [1, 2, 4, 5, 6] {
            let error = keysym_of(vk).unwrap_err();
            assert!(error.to_string().contains("mouse"), "{error}");
            assert!(error.is_callers());
        }
        for vk in [0, 0x07, 0x3a, 0xff, 0x100, u16::MAX] {
            assert!(keysym_of(vk).unwrap_err().is_callers());
        }
    }

    #[test]
    fn shifted_characters_are_the_key_they_stand_on() {
        assert_eq!(vk_of(u32::from('A')), Some(Vk::A));
        assert_eq!(vk_of(u32::from('!')), Some(Vk::KEY_1));
        assert_eq!(vk_of(0xff8d), Some(Vk::RETURN), "the keypad's Enter");
        assert_eq!(vk_of(0x0100_1f00), None);
    }
}
