with Calling;
with Dining;
with Gauss;
with Prodcons;

package body All_Programs is

   procedure Register is
   begin
      Dining.Register;
      Prodcons.Register;
      Gauss.Register;
      Calling.Register;
   end Register;

end All_Programs;
