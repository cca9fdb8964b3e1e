# No panic any more, but the width still counts bytes.
cd repo
sed -i 's/let (piece, rest) = word.split_at(room);/let mut cut = room;\n            while !word.is_char_boundary(cut) { cut += 1; }\n            let (piece, rest) = word.split_at(cut);/' src/wrap.rs
