--  Storage deallocation and garbage collection: loop L4 and its two variants

package Features_Storage is

   procedure Register;

end Features_Storage;
