--  Tasks that the general scheme leaves alone, each for a reason of its own

procedure Refused is

   type Vector is array (Positive range <>) of Float;

   task Sized is
      entry Sum (V : in Vector; S : out Float);
   end Sized;

   task body Sized is
   begin
      accept Sum (V : in Vector; S : out Float) do
         S := V (V'First);
      end Sum;
   end Sized;

   task Stopped is
      entry Go;
   end Stopped;

   task body Stopped is
   begin
      loop
         accept Go;
      end loop;
   end Stopped;

   task Twice is
      entry Go;
   end Twice;

   task body Twice is
      First : Boolean := True;
   begin
      select
         when First =>
            accept Go;
      or
         when not First =>
            accept Go do
               First := True;
            end Go;
      or
         when First =>
            delay 1.0;
      end select;
   end Twice;

   task Forwarder is
      entry Go (I : in Positive);
   end Forwarder;

   task type Worker is
      entry Go (I : in Positive);
   end Worker;

   Workers : array (1 .. 2) of Worker;

   procedure Use_One (W : in Worker) is
   begin
      W.Go (1);
   end Use_One;

   task body Worker is
   begin
      loop
         select
            accept Go (I : in Positive) do
               if I = 0 then
                  raise Program_Error;
               end if;
            end Go;
         or
            terminate;
         end select;
      end loop;
   end Worker;

   task body Forwarder is
      Next : Positive := 1;
   begin
      accept Go (I : in Positive) do
         Next := I;
         requeue Workers (Next).Go;
      end Go;
   end Forwarder;

   subtype Size is Natural range 0 .. 9;

   type Text (Length : Size := 0) is record
      Letters : String (1 .. Length);
   end record;

   task Asker is
      entry Is_Fixed (T : in out Text; Answer : out Boolean);
   end Asker;

   task body Asker is
   begin
      accept Is_Fixed (T : in out Text; Answer : out Boolean) do
         Answer := T'Constrained;
      end Is_Fixed;
   end Asker;

   task Writer is
      entry Write (T : out Text);
   end Writer;

   task body Writer is
   begin
      accept Write (T : out Text) do
         T := (2, "ab");
      end Write;
   end Writer;

   type Pointer is access Text;
   subtype Short is Pointer (1);

   task Holder is
      entry Hold (P : in out Short);
   end Holder;

   task body Holder is
   begin
      accept Hold (P : in out Short) do
         P := null;
      end Hold;
   end Holder;

   package Early is
      task type Caller;
      One : Caller;
   end Early;

   task Called_Early is
      entry Go;
   end Called_Early;

   --  One is activated here, before the body of Called_Early
   package body Early is
      task body Caller is
      begin
         Called_Early.Go;
      end Caller;
   end Early;

   task body Called_Early is
   begin
      accept Go;
   end Called_Early;

   Free    : Text;
   Is_Free : Boolean;
   Fixed   : Text (1);
   P       : Short;

   S : Float;
begin
   Asker.Is_Fixed (Free, Is_Free);
   Writer.Write (T => Fixed);
   Holder.Hold (P);
   Sized.Sum ((1.0, 2.0), S);
   Twice.Go;
   Forwarder.Go (1);
   Use_One (Workers (2));
   abort Stopped;
end Refused;
