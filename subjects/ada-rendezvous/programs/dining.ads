--  The dining philosophers in all variants

package Dining is

   procedure Register;

end Dining;
