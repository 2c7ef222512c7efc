//! Tokens, and which of them may begin or end a line. A line's end separates if the token before
//! may end a line and the token after may begin one.

/// A token.
pub type Token = antiphon_lang::Token<Kind>;

macro_rules! tokens {
    (words { $($word:ident $text:literal $ends:ident;)* } signs { $($sign:ident $shown:literal $sign_ends:ident;)* }) => {
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
            /// Returns the reserved word with that spelling.
            pub fn word(text: &str) -> Option<Kind> {
                Some(match text { $($text => Kind::$word,)* _ => return None })
            }

            /// Returns the token as it is shown in messages.
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

            fn at_line(&self) -> At {
                match self {
                    Kind::Name(_) | Kind::Integer(_) | Kind::Real(_) | Kind::Character(_) | Kind::Text(_) => At::Both,
                    Kind::End => At::Neither,
                    $(Kind::$word => At::$ends,)*
                    $(Kind::$sign => At::$sign_ends,)*
                }
            }
        }
    };
}

/// Positions in a line where a token allows the line's end to separate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    End,
    Both,
    Neither,
}

tokens! {
    words {
        P "P" Begin; V "V" Begin; Af "af" End; And "and" Neither; Any "any" End; Begin "begin" Begin; Body "body" Begin; Bool "bool" Both; By "by" Neither;
        Call "call" Begin; Cap "cap" Neither; Char "char" Both; Co "co" Begin; Const "const" Begin; Create "create" Begin; Destroy "destroy" Begin;
        Do "do" Begin; Downto "downto" Neither; Else "else" Neither; EndWord "end" Both; Enum "enum" Neither; Exit "exit" Both; Extend "extend" Begin;
        External "external" Begin; Fa "fa" Begin; False "false" Both; Fi "fi" End; File "file" Both; Final "final" Begin; Forward "forward" Begin;
        Global "global" Begin; High "high" Begin; If "if" Begin; Import "import" Begin; In "in" Begin; Initial "initial" Begin; Int "int" Both;
        Low "low" Begin; Mod "mod" Neither; New "new" Begin; Next "next" Both; Ni "ni" End; Noop "noop" Both; Not "not" Begin; Null "null" Both; Oc "oc" End;
        Od "od" End; On "on" Neither; Op "op" Begin; Optype "optype" Begin; Or "or" Neither; Proc "proc" Begin; Process "process" Begin;
        Procedure "procedure" Begin; Ptr "ptr" Neither; RealWord "real" Both; Rec "rec" Neither; Receive "receive" Begin; Ref "ref" Begin;
        Reply "reply" Both; Res "res" Begin; Resource "resource" Begin; Return "return" Both; Returns "returns" Neither; Sem "sem" Both; Send "send" Begin;
        Separate "separate" End; Skip "skip" Both; St "st" Neither; Stderr "stderr" Both; Stdin "stdin" Both; Stdout "stdout" Both; Stop "stop" Both;
        StringWord "string" Begin; To "to" Neither; True "true" Both; Type "type" Begin; Union "union" Neither; Val "val" Begin; Var "var" Begin;
        Vm "vm" End; Xor "xor" Neither;
    }
    signs {
        LeftParen "(" Begin; RightParen ")" End; LeftBracket "[" Neither; RightBracket "]" End; LeftBrace "{" Neither; RightBrace "}" End;
        Period "." Neither; At "@" Begin; Question "?" Begin; Increment "++" Both; Decrement "--" Both; Hat "^" End;
        LessEqual "<=" Neither; Less "<" Neither; Equal "=" Neither; Greater ">" Neither; GreaterEqual ">=" Neither; NotEqual "!=" Neither;
        Plus "+" Begin; Minus "-" Begin; Asterisk "*" Neither; Slash "/" Neither; Percent "%" Neither; Power "**" Neither;
        ShiftLeft "<<" Neither; ShiftRight ">>" Neither; Concatenate "||" Neither;
        AddAssign "+:=" Neither; SubtractAssign "-:=" Neither; MultiplyAssign "*:=" Neither; DivideAssign "/:=" Neither; RemainderAssign "%:=" Neither;
        PowerAssign "**:=" Neither; AndAssign "&:=" Neither; OrAssign "|:=" Neither; ShiftLeftAssign "<<:=" Neither; ShiftRightAssign ">>:=" Neither;
        ConcatenateAssign "||:=" Neither; Assign ":=" Neither; Swap ":=:" Neither; Comma "," Neither; Colon ":" Neither; Arrow "->" End;
        Box "[]" Begin; Parallel "//" Neither; Separator ";" Neither;
        Region "#@ region" Neither; RegionEnd "the end of the line" End;
    }
}

impl Kind {
    /// Whether a line that begins with it may be a new statement.
    pub fn may_begin(&self) -> bool {
        matches!(self.at_line(), At::Begin | At::Both)
    }

    /// Whether a line that ends with it may end a statement.
    pub fn may_end(&self) -> bool {
        matches!(self.at_line(), At::End | At::Both)
    }
}
