--  Producer and consumer in all variants

package Prodcons is

   procedure Register;

end Prodcons;
