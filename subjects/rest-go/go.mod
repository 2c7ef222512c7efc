module antiphon/rest

go 1.22
