--  A server keeps a list whose full type stands behind its private one: calls of its operations are known calls.

with Ada.Text_IO; use Ada.Text_IO;

procedure Private_View is
   package Lists is
      type List is private;
      function Empty (L : List) return Boolean;
      function Length (L : List) return Natural;
   private
      type Node;
      type List is access Node;
   end Lists;
   package body Lists is
      type Node is record
         Next : List;
      end record;

      function Empty (L : List) return Boolean is (L = null);
      function Length (L : List) return Natural is
      begin
         if Empty (L) then
            return 0;
         end if;
         return 1 + Length (L.Next);
      end Length;
   end Lists;
   use Lists;
   task Q is
      entry Add (N : out Natural);
   end Q;
   task body Q is
      L : List;
   begin
      loop
         select
            when Length (L) < 9 =>
               accept Add (N : out Natural) do
                  N := Length (L);
               end Add;
         or
            terminate;
         end select;
      end loop;
   end Q;
   N : Natural;
begin
   Q.Add (N);
   Put_Line (N'Image);
end Private_View;
