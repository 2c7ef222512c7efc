//! MariaDB by sqlx, whose name for it is MySQL.

use crate::database::told;
use antiphon_kit::Failure;
use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};

pub use sqlx::MySql as Server;

pub fn options() -> Result<MySqlConnectOptions, Failure> {
    Ok(MySqlConnectOptions::new()
        .host(&told("HOST")?)
        .port(told("PORT")?.parse()?)
        .username(&told("USER")?)
        .password(&told("PASSWORD")?)
        .database(&told("NAME")?)
        .ssl_mode(MySqlSslMode::Disabled))
}
