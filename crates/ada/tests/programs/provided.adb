--  Servers that call what was not written yet when they were: what it does cannot be known.

procedure Provided is

   generic
      with procedure Show (X : Integer);
   package Registers is
      task Register is
         entry Set (X : Integer);
      end Register;
   end Registers;

   package Screens is
      type Screen is limited interface;
      procedure Draw (On : in out Screen; X : Integer) is abstract;
      type Any_Screen is access all Screen'Class;
      Current : Any_Screen;

      task Painter is
         entry Paint (X : Integer);
      end Painter;
   end Screens;

   package body Registers is
      task body Register is
      begin
         loop
            select
               accept Set (X : Integer) do
                  Show (X);
               end Set;
            or
               terminate;
            end select;
         end loop;
      end Register;
   end Registers;

   package body Screens is
      task body Painter is
      begin
         loop
            select
               accept Paint (X : Integer) do
                  if Current /= null then
                     Draw (Current.all, X);
                  end if;
               end Paint;
            or
               terminate;
            end select;
         end loop;
      end Painter;
   end Screens;

   procedure Nothing (X : Integer) is null;
   package Ours is new Registers (Nothing);
begin
   Ours.Register.Set (1);
   Screens.Painter.Paint (2);
end Provided;
