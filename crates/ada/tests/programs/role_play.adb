--  Servers that implement interfaces, as a protected type can too, and some that cannot.

with Ada.Text_IO; use Ada.Text_IO;

procedure Role_Play is

   package Roles is

      type Named is limited interface;
      procedure Tell (Who : in out Named; Name : out Character) is abstract;

      type Stock is synchronized interface and Named;
      procedure Put (Into : in out Stock; Amount : Natural) is abstract;
      procedure Get (From : in out Stock; Amount : out Natural) is abstract;

      type Ruler is limited interface;
      procedure Rule (By : Ruler; What : Character) is abstract;

      type Worker is task interface;
      procedure Work (For_Whom : in out Worker) is abstract;

      type Guard is task interface;
      procedure Bark (By : in out Guard) is abstract;

   end Roles;

   use Roles;

   --  Translated.
   task type Shelf (Sign : Character) is new Stock with
      overriding entry Tell (Name : out Character);
      overriding entry Put (Amount : Natural);
      overriding entry Get (Amount : out Natural);
   end Shelf;

   --  Kept: a protected type cannot implement an operation on something that does not change.
   task King is new Roles.Ruler with
      entry Rule (What : Character);
   end King;

   --  Translated: that workers are tasks matters to nobody.
   task Smith is new Roles.Worker with
      entry Work;
   end Smith;

   --  Kept: whoever guards may be aborted.
   task type Dog is new Roles.Guard with
      entry Bark;
   end Dog;

   task body Shelf is
      Content : Natural := 0;
   begin
      loop
         select
            accept Tell (Name : out Character) do
               Name := Sign;
            end Tell;
         or
            accept Put (Amount : Natural) do
               Content := Content + Amount;
            end Put;
         or
            when Content > 0 =>
               accept Get (Amount : out Natural) do
                  Amount := Content;
                  Content := 0;
               end Get;
         or
            terminate;
         end select;
      end loop;
   end Shelf;

   task body King is
   begin
      loop
         select
            accept Rule (What : Character) do
               Put_Line ("rules " & What);
            end Rule;
         or
            terminate;
         end select;
      end loop;
   end King;

   task body Smith is
   begin
      accept Work;
   end Smith;

   task body Dog is
   begin
      accept Bark;
      accept Bark;
   end Dog;

   procedure Send_Home (Whom : in out Roles.Guard'Class) is
   begin
      Whom.Bark;
      abort Whom;
   end Send_Home;

   procedure Use_It (It : in out Roles.Stock'Class) is
      Name   : Character;
      Amount : Natural;
   begin
      It.Tell (Name);
      It.Put (3);
      It.Put (4);
      It.Get (Amount);
      Put_Line (Name & Amount'Image);
      select
         It.Get (Amount);
         Put_Line ("more?");
      or
         delay 0.01;
         Put_Line ("empty");
      end select;
   end Use_It;

   A : Shelf ('a');
   B : Shelf ('b');
   D : Dog;
begin
   Use_It (A);
   Use_It (B);
   King.Rule ('x');
   Smith.Work;
   Send_Home (D);
end Role_Play;
