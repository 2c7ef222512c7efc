--  Servers that call the language's own library: some calls block, some ask for the current task, and some only seem to.

with Ada.Containers.Bounded_Synchronized_Queues;
with Ada.Containers.Synchronized_Queue_Interfaces;
with Ada.Task_Attributes;
with Ada.Task_Identification;
with Ada.Text_IO;

procedure Library_Calls is

   package Letters is
     new Ada.Containers.Synchronized_Queue_Interfaces (Integer);
   package Boxes is
     new Ada.Containers.Bounded_Synchronized_Queues (Letters, 2);
   package Ranks is new Ada.Task_Attributes (Integer, 7);

   type Box_Array is array (1 .. 2) of Boxes.Queue;
   Box : Box_Array;

   --  Kept: Enqueue is an entry, and waits when the box is full.
   task Post is
      entry Send (Letter : Integer);
   end Post;

   --  Translated: it asks for the attribute of the caller, and by name.
   task Usher is
      entry Enter (Rank : out Integer);
   end Usher;

   --  Kept: the attribute is its own.
   task Sergeant is
      entry Salute (Rank : out Integer);
   end Sergeant;

   --  Kept: it has a task of its own, whose accepts are no business of its.
   task Head is
      entry Ask (Answer : out Integer);
   end Head;

   --  Kept: an object is made below, before the body; activating it raises Program_Error.
   task type Early is
      entry Never;
   end Early;

   package Makes_Early is
      procedure Report;
   end Makes_Early;

   package body Makes_Early is
      type Early_Access is access Early;
      Made   : Early_Access;
      Failed : Boolean := False;

      procedure Report is
      begin
         Ada.Text_IO.Put_Line ("failed: " & Failed'Image);
      end Report;
   begin
      Made := new Early;
   exception
      when Program_Error =>
         Failed := True;
   end Makes_Early;

   task body Early is
   begin
      accept Never;
   end Early;

   task body Post is
   begin
      loop
         select
            accept Send (Letter : Integer) do
               Box (1 + Letter mod 2).Enqueue (Letter);
            end Send;
         or
            terminate;
         end select;
      end loop;
   end Post;

   task body Usher is
      use Ada.Task_Identification;
      First : Task_Id := Null_Task_Id;
   begin
      loop
         select
            accept Enter (Rank : out Integer) do
               if First = Null_Task_Id then
                  First := Enter'Caller;
               end if;
               Rank := Ranks.Value (First);
            end Enter;
         or
            terminate;
         end select;
      end loop;
   end Usher;

   task body Sergeant is
   begin
      loop
         select
            accept Salute (Rank : out Integer) do
               Rank := Ranks.Value;
            end Salute;
         or
            terminate;
         end select;
      end loop;
   end Sergeant;

   task body Head is

      task Helper is
         entry Count (N : in out Integer);
      end Helper;

      task body Helper is
      begin
         loop
            select
               accept Count (N : in out Integer) do
                  N := N + 1;
               end Count;
            or
               terminate;
            end select;
         end loop;
      end Helper;

      N : Integer := 0;
   begin
      loop
         Helper.Count (N);
         select
            accept Ask (Answer : out Integer) do
               Answer := N;
            end Ask;
         or
            terminate;
         end select;
      end loop;
   end Head;

   N : Integer;
begin
   Ranks.Set_Value (12);
   Usher.Enter (N);
   Ada.Text_IO.Put_Line (N'Image);
   Sergeant.Salute (N);
   Ada.Text_IO.Put_Line (N'Image);
   Head.Ask (N);
   Ada.Text_IO.Put_Line (N'Image);
   Makes_Early.Report;
   Post.Send (5);
   Box (2).Dequeue (N);
   Ada.Text_IO.Put_Line (N'Image);
end Library_Calls;
