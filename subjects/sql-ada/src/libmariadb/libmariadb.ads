--  A thin binding to what the tests use of libmariadb: mysql.h and mariadb_stmt.h of MariaDB Connector/C 3

with Interfaces.C;         use Interfaces.C;
with Interfaces.C.Strings; use Interfaces.C.Strings;
with System;

package Libmariadb is

   subtype Handle is System.Address;
   subtype Result is System.Address;
   subtype Statement is System.Address;

   subtype My_Bool is signed_char;
   subtype Long_Long is Interfaces.Integer_64;
   subtype Unsigned_Long_Long is Interfaces.Unsigned_64;

   Columns_Most : constant := 2;

   --  The columns of a row, of which the first mysql_num_fields are there
   type Row_Columns is array (1 .. Columns_Most) of chars_ptr with Convention => C;
   type Row is access Row_Columns with Convention => C;

   Opt_Protocol               : constant := 9;
   Opt_Ssl_Verify_Server_Cert : constant := 21;
   Opt_Ssl_Enforce            : constant := 38;
   Protocol_Tcp               : constant := 1;
   Type_Longlong              : constant := 8;
   No_Data                    : constant := 100;

   --  MYSQL_BIND: where a parameter or a column is. The tests set Buffer; zeroes elsewhere
   type Bind is record
      Length, Is_Null : System.Address := System.Null_Address;
      Buffer          : System.Address := System.Null_Address;
      Error, Place    : System.Address := System.Null_Address;
      Store           : System.Address := System.Null_Address;
      Fetch, Skip     : System.Address := System.Null_Address;
      Buffer_Length   : unsigned_long  := 0;
      Offset          : unsigned_long  := 0;
      Length_Value    : unsigned_long  := 0;
      Flags           : unsigned       := 0;
      Pack_Length     : unsigned       := 0;
      Buffer_Type     : int            := Type_Longlong;
      Error_Value     : My_Bool        := 0;
      Is_Unsigned     : My_Bool        := 0;
      Long_Data_Used  : My_Bool        := 0;
      Is_Null_Value   : My_Bool        := 0;
      Extension       : System.Address := System.Null_Address;
   end record
     with Convention => C;

   type Binds is array (Positive range <>) of Bind with Convention => C;

   function Init (None : System.Address) return Handle
     with Import, Convention => C, External_Name => "mysql_init";

   function Options (On : Handle; Option : int; Value : access unsigned) return int
     with Import, Convention => C, External_Name => "mysql_options";

   function Options (On : Handle; Option : int; Value : access My_Bool) return int
     with Import, Convention => C, External_Name => "mysql_options";

   function Real_Connect
     (On                             : Handle;
      Host, User, Password, Database : char_array;
      Port                           : unsigned;
      Socket                         : System.Address;
      Flags                          : unsigned_long) return Handle
     with Import, Convention => C, External_Name => "mysql_real_connect";

   procedure Close (On : Handle)
     with Import, Convention => C, External_Name => "mysql_close";

   function Error (On : Handle) return chars_ptr
     with Import, Convention => C, External_Name => "mysql_error";

   function Real_Query (On : Handle; Text : System.Address; Length : unsigned_long) return int
     with Import, Convention => C, External_Name => "mysql_real_query";

   function Affected_Rows (On : Handle) return Unsigned_Long_Long
     with Import, Convention => C, External_Name => "mysql_affected_rows";

   function Store_Result (On : Handle) return Result
     with Import, Convention => C, External_Name => "mysql_store_result";

   function Num_Fields (Of_Result : Result) return unsigned
     with Import, Convention => C, External_Name => "mysql_num_fields";

   function Fetch_Row (Of_Result : Result) return Row
     with Import, Convention => C, External_Name => "mysql_fetch_row";

   procedure Free_Result (Of_Result : Result)
     with Import, Convention => C, External_Name => "mysql_free_result";

   function Stmt_Init (On : Handle) return Statement
     with Import, Convention => C, External_Name => "mysql_stmt_init";

   function Stmt_Prepare (Its : Statement; Text : System.Address; Length : unsigned_long) return int
     with Import, Convention => C, External_Name => "mysql_stmt_prepare";

   function Stmt_Field_Count (Its : Statement) return unsigned
     with Import, Convention => C, External_Name => "mysql_stmt_field_count";

   --  Both copy what they are given; the buffers stay the caller's
   function Stmt_Bind_Param (Its : Statement; Parameters : Binds) return My_Bool
     with Import, Convention => C, External_Name => "mysql_stmt_bind_param";

   function Stmt_Bind_Result (Its : Statement; Columns : Binds) return My_Bool
     with Import, Convention => C, External_Name => "mysql_stmt_bind_result";

   function Stmt_Execute (Its : Statement) return int
     with Import, Convention => C, External_Name => "mysql_stmt_execute";

   function Stmt_Store_Result (Its : Statement) return int
     with Import, Convention => C, External_Name => "mysql_stmt_store_result";

   function Stmt_Fetch (Its : Statement) return int
     with Import, Convention => C, External_Name => "mysql_stmt_fetch";

   function Stmt_Free_Result (Its : Statement) return My_Bool
     with Import, Convention => C, External_Name => "mysql_stmt_free_result";

   function Stmt_Affected_Rows (Its : Statement) return Unsigned_Long_Long
     with Import, Convention => C, External_Name => "mysql_stmt_affected_rows";

   function Stmt_Error (Its : Statement) return chars_ptr
     with Import, Convention => C, External_Name => "mysql_stmt_error";

   function Stmt_Close (Its : Statement) return My_Bool
     with Import, Convention => C, External_Name => "mysql_stmt_close";

   function Number (Text : chars_ptr; Rest : System.Address; Base : int) return Unsigned_Long_Long
     with Import, Convention => C, External_Name => "strtoull";
   --  Of the C library: columns come as text

end Libmariadb;
