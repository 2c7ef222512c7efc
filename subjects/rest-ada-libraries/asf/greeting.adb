with Servlet.Rest.Operation;

package body Greeting is

   procedure Get
     (Request : in out Servlet.Rest.Request'Class;
      Reply   : in out Servlet.Rest.Response'Class;
      Stream  : in out Servlet.Rest.Output_Stream'Class);

   procedure Get
     (Request : in out Servlet.Rest.Request'Class;
      Reply   : in out Servlet.Rest.Response'Class;
      Stream  : in out Servlet.Rest.Output_Stream'Class)
   is
      pragma Unreferenced (Request);
   begin
      Reply.Set_Content_Type ("application/json");
      Stream.Start_Document;
      Stream.Start_Entity ("");
      Stream.Write_Entity ("greeting", "Hello World!");
      Stream.End_Entity ("");
      Stream.End_Document;
   end Get;

   package Get_Greeting is new Servlet.Rest.Operation
     (Handler => Get'Access,
      URI     => "");

   procedure Register (Application : in out Servlet.Core.Servlet_Registry'Class) is
   begin
      Servlet.Rest.Register (Application, Get_Greeting.Definition);
   end Register;

end Greeting;
