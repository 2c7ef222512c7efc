module antiphon/subjects/go

go 1.21
