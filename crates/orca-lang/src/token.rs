//! Tokens of Orca.

/// A token.
pub type Token = antiphon_lang::Token<Kind>;

macro_rules! tokens {
    (words { $($word:ident $text:literal)* } signs { $($sign:ident $shown:literal)* }) => {
        /// The kind of a token.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Kind {
            /// An identifier.
            Name(String),
            /// An integer.
            Integer(i32),
            /// A real number.
            Real(f64),
            /// A character.
            Character(u8),
            /// A string's bytes.
            Text(Vec<u8>),
            /// The end of the file.
            End,
            $(#[doc = $text] $word,)*
            $(#[doc = $shown] $sign,)*
        }

        impl Kind {
            /// Returns the reserved word with this spelling in capitals.
            pub fn word(text: &str) -> Option<Kind> {
                Some(match text { $($text => Kind::$word,)* _ => return None })
            }

            /// Returns the token's spelling in messages.
            pub fn shown(&self) -> String {
                match self {
                    Kind::Name(name) => format!("\"{name}\""),
                    Kind::Integer(_) => "an integer".into(),
                    Kind::Real(_) => "a real number".into(),
                    Kind::Character(_) => "a character".into(),
                    Kind::Text(_) => "a string".into(),
                    Kind::End => "the end of the file".into(),
                    $(Kind::$word => format!("\"{}\"", $text),)*
                    $(Kind::$sign => format!("\"{}\"", $shown),)*
                }
            }
        }

        /// All signs, the longest first.
        pub(crate) fn signs() -> &'static [(&'static str, Kind)] {
            const SIGNS: &[(&str, Kind)] = &[$(($shown, Kind::$sign),)*];
            SIGNS
        }
    };
}

tokens! {
    words {
        And "AND" Array "ARRAY" Bag "BAG" Begin "BEGIN" Case "CASE" Const "CONST" Data "DATA"
        Do "DO" Else "ELSE" Elsif "ELSIF" EndWord "END" Esac "ESAC" Exit "EXIT" Fi "FI" For "FOR"
        Fork "FORK" From "FROM" Function "FUNCTION" Generic "GENERIC" Graph "GRAPH" Guard "GUARD"
        If "IF" Implementation "IMPLEMENTATION" Import "IMPORT" In "IN" Module "MODULE" New "NEW"
        NodeName "NODENAME" Nodes "NODES" Not "NOT" Numeric "NUMERIC" Object "OBJECT" Od "OD"
        Of "OF" On "ON" Operation "OPERATION" Or "OR" Out "OUT" Process "PROCESS" Record "RECORD"
        Repeat "REPEAT" Return "RETURN" Scalar "SCALAR" Set "SET" Shared "SHARED"
        Specification "SPECIFICATION" Then "THEN" Type "TYPE" Union "UNION" Until "UNTIL"
        While "WHILE"
    }
    signs {
        Directive "$$" Range ".." Arrow "=>" Assign ":=" NotEqual "/=" LessEqual "<="
        GreaterEqual ">=" ShiftLeft "<<" ShiftRight ">>"
        LeftParen "(" RightParen ")" LeftBracket "[" RightBracket "]" LeftBrace "{" RightBrace "}"
        Semicolon ";" Colon ":" Comma "," Period "." Dollar "$" Follow "!" Equal "=" Less "<"
        Greater ">" Plus "+" Minus "-" Asterisk "*" Slash "/" Percent "%" Bar "|" Ampersand "&"
        Caret "^" Tilde "~"
    }
}
