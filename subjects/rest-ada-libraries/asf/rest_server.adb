--  A REST server over the servlets of Ada Server Faces: GET /api is answered with a greeting.
--
--  Usage: rest_server PORT

with Ada.Command_Line;
with Containers;
with Greeting;
with Servlet.Core.Rest;

procedure Rest_Server is
   Api         : aliased Servlet.Core.Rest.Rest_Servlet;
   Application : aliased Servlet.Core.Servlet_Registry;
   Container   : Containers.Container;
begin
   Containers.Configure (Container, Port => Positive'Value (Ada.Command_Line.Argument (1)));
   Application.Add_Servlet (Name => "api", Server => Api'Unchecked_Access);
   Application.Add_Mapping (Name => "api", Pattern => "/*");
   Greeting.Register (Application);
   Container.Register_Application ("/api", Application'Unchecked_Access);
   Container.Start;
   delay Duration'Last;
end Rest_Server;
