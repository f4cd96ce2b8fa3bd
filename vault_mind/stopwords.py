"""The words of each language that only hold a sentence together, by Snowball's name of the language.

Question words, pronouns, articles, auxiliaries, prepositions, conjunctions: what a question has and
an answer need not have. The English list is the Snowball project's, with its contractions also as
people type them without the apostrophe; the others are ours. Where a word is also something to ask
about (French `été`, Spanish `nada`), it is left out of the list.
"""

FUNCTION_WORDS = {
    "english": """
        i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
        hers herself it its itself they them their theirs themselves what which who whom this that these
        those am is are was were be been being have has had having do does did doing would should could
        ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
        they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't
        doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's that's
        who's what's here's there's when's where's why's how's a an the and but if or because as until while
        of at by for with about against between into through during before after above below to from up down
        in out on off over under again further then once here there when where why how all any both each few
        more most other some such no nor not only own same so than too very
        im youre theyre ive youve theyve isnt arent wasnt werent hasnt havent hadnt doesnt dont didnt wouldnt
        shouldnt couldnt thats whos whats heres theres whens wheres whys hows
    """,
    "german": """
        ich mich mir mein meine meinen meinem meiner meines du dich dir dein deine deinen deinem deiner deines
        er ihn ihm sein seine seinen seinem seiner seines sie ihr ihre ihren ihrem ihrer ihres es wir uns unser
        unsere unseren unserem unserer unseres euch euer eure euren eurem eurer eures sich man selbst ihnen
        der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines
        dieser diese dieses diesen diesem jener jene jenes jenen jenem jeder jede jedes jeden jedem
        wer wen wem wessen was welcher welche welches welchen welchem wann wo wohin woher wie warum wieso weshalb
        wozu womit worin woran worauf wovon wofür worüber
        bin bist ist sind seid war warst waren wart gewesen sei wäre wären habe hast hat haben habt hatte hattest
        hatten hattet gehabt hätte hätten werde wirst wird werden werdet wurde wurden worden würde würden
        kann kannst können könnt konnte konnten könnte könnten muss musst müssen musste mussten müsste darf dürfen
        durfte soll sollst sollen sollte sollten will willst wollen wollte wollten mag mögen möchte möchten
        und oder aber denn sondern doch dass daß ob wenn weil als da damit obwohl bevor nachdem während bis sowie
        in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur für durch gegen ohne um über unter
        zwischen hinter neben seit wegen trotz statt ab
        nicht nichts auch nur noch schon sehr so dann dort hier nun jetzt etwa mal denn eben also ja nein etwas alle
        allem allen aller alles andere anderen anderer anderes viel viele vielen mehr einige einigen einiger
        mancher manche manchen solche solchen solcher davon dazu daran darauf darin darüber dafür dabei
    """,
    "dutch": """
        ik mij me mijn jij je jou jouw u uw hij hem zijn zij ze haar wij we ons onze jullie hun hen het zich zelf
        de een der den des dit dat deze die geen elk elke ieder iedere
        wie wat welk welke wanneer waar waarheen waarom hoe hoeveel waarmee waarvoor waarin waarop
        ben bent is was waren geweest wees heb hebt heeft hebben had hadden gehad word wordt worden werd werden
        geworden zal zult zullen zou zouden kan kunt kunnen kon konden moet moeten moest moesten mag mogen mocht
        wil wilt willen wilde wilden doe doet doen deed gedaan
        en of maar want omdat dus als dan toen terwijl hoewel voordat nadat totdat
        in op aan uit bij met naar van voor tot te ten ter door tegen zonder om over onder tussen achter naast sinds
        tijdens vanaf af
        niet niets ook nog al zeer heel zo daar hier nu er eens meer veel iets andere ander toch alleen alle alles
        iemand niemand reeds
    """,
    "swedish": """
        jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes den det dess vi oss vår vårt våra
        ni er ert era de dem deras sig sin sitt sina man en ett denna detta dessa
        vem vems vad vilken vilket vilka när var vart varifrån varför hur
        är var varit vara vore har hade haft ha blir blev blivit bli ska skall skulle kan kunde kunnat måste får fick
        vill ville gör gjorde göra gjort
        och eller men utan för att om eftersom därför som än då medan innan sedan
        i på av till från med hos vid mot mellan under över genom efter före kring inom utom åt ur
        inte ej inget ingen inga också bara mycket så där här nu någon något några alla allt andra sådan sådana
        sådant redan dock själv samma varje åt
    """,
    "danish": """
        jeg mig min mit mine du dig din dit dine han ham hans hun hende hendes den det dens dets vi os vor vort vores
        vore I jer jeres de dem deres sig sin sit sine man en et denne dette disse
        hvem hvis hvad hvilken hvilket hvilke hvornår hvor hvorfor hvordan hvorhen
        er var været være har havde haft have bliver blev blevet blive skal skulle kan kunne må måtte vil ville gør
        gjorde gøre gjort
        og eller men for at om fordi som end da når mens inden siden
        i på af til fra med hos ved mod mellem under over gennem efter før omkring ad ud op
        ikke ej ingen intet også kun meget så der her nu nogen noget nogle alle alt anden andet andre sådan selv
        samme hver
    """,
    "norwegian": """
        jeg eg meg min mi mitt mine du deg din di ditt dine han ham hans hun ho henne hennes den det dens vi oss vår
        vårt våre dere de dem dei deres sin si sitt sine seg man en ei et ein eit denne dette disse
        hvem kven hva kva hvilken hvilket hvilke når hvor kvar hvorfor kvifor hvordan korleis hvis
        er var vært være vere har hadde hatt ha blir ble blei blitt bli skal skulle kan kunne må måtte vil ville gjør
        gjorde gjøre gjort
        og eller men for at å om fordi som enn da mens før siden
        i på av til fra med hos ved mot mellom under over gjennom etter rundt om ut opp inn
        ikke ikkje ingen intet også bare kun meget så der her nå noen noe alle alt annen annet andre slik selv
        samme hver
    """,
    "finnish": """
        minä minun minua minut minulla minulle minulta sinä sinun sinua sinut sinulla sinulle hän hänen häntä hänet
        hänellä hänelle me meidän meitä meidät meillä meille te teidän teitä teillä he heidän heitä heidät heillä
        heille se sen sitä siinä siitä siihen sillä sille ne niiden niitä niissä niistä niihin niillä tämä tämän tätä
        tässä tästä tähän nämä näiden näitä tuo tuon tuota nuo
        kuka kenen ketä kenellä kenelle ketkä mikä minkä mitä missä mistä mihin millä mille mitkä milloin koska miksi
        miten kuinka kumpi millainen
        joka jonka jota jossa josta johon jolla jolle jotka joiden joita
        olen olet on olemme olette ovat oli olin olit olivat ollut olleet olla olisi ole ei en et emme ette eivät
        voi voin voit voivat voisi pitää pitäisi
        ja tai sekä mutta vaan että jos kun koska kuin vaikka niin ennen jälkeen kanssa ilman varten ennen yli ali
        myös vain jo vielä hyvin nyt sitten siellä täällä tuolla kaikki joku jokin muu muut
    """,
    "french": """
        je j me m moi tu te t toi il elle on nous vous ils elles lui leur leurs se s soi y en le la l les un une des
        du de d au aux mon ma mes ton ta tes son sa ses notre nos votre vos ce c cet cette ces ceci cela ça celui
        celle ceux celles
        qui que qu quoi quel quelle quels quelles lequel laquelle lesquels lesquelles quand où comment pourquoi combien
        dont
        suis es est sommes êtes sont étais était étions étiez étaient serai sera serons seront serait seraient soit
        sois étant fut ai as a avons avez ont avais avait avions aviez avaient aurai aura auront aurait auraient ait
        eu ayant fait faire font
        peut peux peuvent pouvait doit dois doivent devait veut veux veulent voulait
        et ou mais donc or ni car si comme lorsque lorsqu puisque puisqu quoique parce jusque jusqu
        à dans par pour avec sans sous sur vers chez entre depuis pendant avant après contre
        ne n pas plus très aussi même mêmes tout toute tous toutes autre autres encore déjà là ici alors quelque
        quelques quelqu est-ce
    """,
    "spanish": """
        yo me mí mi mis mío mía tú te ti tu tus tuyo tuya él ella ello lo la le se sí su sus suyo suya nosotros
        nosotras nos nuestro nuestra nuestros nuestras vosotros vosotras os vuestro vuestra usted ustedes ellos ellas
        los las les el un una unos unas al del
        este esta esto estos estas ese esa eso esos esas aquel aquella aquello aquellos aquellas
        quién quiénes qué cuál cuáles cuándo dónde adónde cómo cuánto cuánta cuántos cuántas quien quienes que cual
        cuales cuando donde como cuanto por porqué
        soy eres es somos sois son era eras éramos eran fui fuiste fue fuimos fueron sido ser será serán sería sea
        estoy estás está estamos están estaba estaban estuvo estado estar he has ha hemos han había habían hubo hay
        haber habrá haya tengo tienes tiene tenemos tienen tenía tenían tuvo hace hizo
        puede pueden puedo podía debe deben
        y e o u ni pero sino aunque porque pues si mientras
        a ante bajo con contra de desde durante en entre hacia hasta para sin sobre tras según
        no más muy también ya todo toda todos todas otro otra otros otras tan tanto algo alguno alguna algunos algunas
        algún mismo misma cada ahí allí aquí
    """,
    "portuguese": """
        eu me mim meu minha meus minhas tu te ti teu tua teus tuas você vocês ele ela eles elas o a os as lhe lhes se
        si seu sua seus suas nós nos nosso nossa nossos nossas vos dele dela deles delas
        um uma uns umas ao aos à às do da dos das no na nos nas num numa pelo pela pelos pelas
        este esta isto estes estas esse essa isso esses essas aquele aquela aquilo aqueles aquelas
        quem que quê qual quais quando onde aonde como quanto quanta quantos quantas porque porquê
        sou és é somos são era eram fui foi fomos foram sido ser será serão seria seja estou está estamos estão estava
        estavam esteve estar hei há havia houve haver tenho tem temos têm tinha tinham teve tiveram ter
        pode podem posso deve devem fez faz
        e ou mas nem pois se embora enquanto
        de em por para com sem sob sobre entre até desde contra após perante
        não mais muito também já só todo toda todos todas outro outra outros outras algo algum alguma alguns algumas
        mesmo mesma cada lá ali aqui então
    """,
    "italian": """
        io me mi mio mia miei mie tu te ti tuo tua tuoi tue lui lei egli ella esso essa lo la gli le si sé suo sua suoi
        sue noi ci ce nostro nostra nostri nostre voi vi vostro vostra vostri vostre loro li ne
        il l i un uno una d c s m t v
        al allo alla ai agli alle all dal dallo dalla dai dagli dalle dall del dello della dei degli delle dell nel
        nello nella nei negli nelle nell sul sullo sulla sui sugli sulle sull col
        questo questa questi queste quest quello quella quelli quelle quell quel quei
        chi che cui cosa cos quale quali qual quando dove dov come com quanto quanta quanti quante perché
        sono sei è siamo siete era eri eravamo erano fui fu fummo furono stato stata stati state essere sarà saranno
        sarebbe sia siano ho hai ha abbiamo avete hanno avevo aveva avevano ebbe avuto avere avrà abbia sta stanno
        può possono posso deve devono fa fatto fare
        e ed o od ma né però anche se mentre poiché affinché
        a ad di da in con su per tra fra senza sotto sopra verso fino contro durante dopo prima
        non più molto già tutto tutta tutti tutte altro altra altri altre ogni qualche alcuni alcune stesso stessa lì
        là qui qua così
    """,
    "catalan": """
        jo em m me mi meu meva meus meves tu et t te teu teva ell ella ells elles el la els les l es s se ho hi li en n
        nosaltres ens vosaltres us seu seva seus seves nostre nostra vostre vostra lo un una uns unes al als del dels
        de d pel pels aquest aquesta aquests aquestes aquell aquella això allò
        qui què que qual quals quan on com quant quants quanta quantes perquè
        sóc soc ets és som sou són era eren va van fou ser estar està estan estava he has ha hem heu han havia tinc té
        tenen tenia pot poden
        i o ni però sinó si mentre a amb per sense sota sobre entre fins des cap contra durant
        no més molt també ja tot tota tots totes altre altra altres algun alguna mateix cada aquí allà
    """,
    "romanian": """
        eu mă mine îmi mi meu mea mei mele tu te tine îți ți tău ta tăi tale el ea îl o îi i lui ei noi ne nouă nostru
        noastră voi vă vouă vostru ei ele îi le lor se își si său sa săi sale un o unui unei niște al a ai ale cel cea
        acest această acești aceste acel acea acei acele
        cine ce care când unde cum cât câtă câți câte de
        sunt ești este e suntem sunteți eram era erau fost fi fie am ai are avem aveți au avea avut va vor voi poate
        trebuie
        și sau dar ci nici că să dacă deși pentru din în la pe cu fără sub peste între până spre după înainte despre
        nu mai foarte tot toată toți toate alt altă alți alte și doar aici acolo
    """,
    "russian": """
        я меня мне мной мой моя моё мои моего моей моих ты тебя тебе тобой твой твоя твоё твои он его ему им нём она её
        ей ею ней оно мы нас нам нами наш наша наше наши вы вас вам вами ваш ваша ваше ваши они их ими них себя себе
        собой свой своя своё свои своего своей своих
        этот эта это эти этого этой этому этих этим тот та то те того той тому тех тем такой такая такие
        кто кого кому кем ком что чего чему чем какой какая какое какие какого какой каких когда где куда откуда
        почему зачем как сколько чей чья чьё чьи который которая которое которые
        есть был была было были быть будет будут буду будем бы может могут мог могла могли можно надо
        и а но или да ни не нет если чтобы потому хотя пока ли же ведь
        в во на с со к ко у о об обо от до из за по под над при про без для через между перед после около
        тоже также ещё уже только очень так там тут здесь сейчас потом все всё весь вся всего всех сам сама сами
        другой другая другие
    """,
    "polish": """
        ja mnie mi mną mój moja moje moi mojego mojej ty ciebie cię ci tobą twój twoja twoje on jego go jemu mu nim ona
        jej ją nią ono my nas nam nami nasz nasza nasze wy was wam wami wasz oni one ich im nimi się siebie sobie
        swój swoja swoje ten ta to ci te tego tej tych tym tę tamten tamta
        kto kogo komu kim co czego czemu czym jaki jaka jakie jakiego kiedy gdzie dokąd skąd dlaczego czemu jak ile
        czyj który która które czy
        jest są był była było byli były być będzie będą jestem jesteś może mogą mógł można ma mają miał miała
        i a ale lub albo oraz ani nie że żeby aby bo ponieważ jeśli jeżeli choć
        w we na z ze do od u o po pod nad przy przez bez dla między przed za
        też także już jeszcze tylko bardzo tak tam tu teraz potem wszystko wszyscy inny inna inne
    """,
    "czech": """
        já mě mne mi mnou můj moje má mého ty tě tebe ti tobě tvůj tvoje on jeho ho jemu mu ním ona její jí ji ono my
        nás nám námi náš naše vy vás vám váš vaše oni ony je jejich jim jimi se si sebe svůj svoje své ten ta to ti ty
        toho té tomu tím tento tato toto tyto
        kdo koho komu kým co čeho čemu čím jaký jaká jaké který která které kdy kde kam odkud proč jak kolik čí
        je jsou jsem jsi jsme jste byl byla bylo byli být bude budou by má mají měl měla může mohou
        a i ale nebo ani ne že aby protože jestli pokud když ačkoli
        v ve na s se z ze do od u o po pod nad při přes bez pro mezi před za k ke
        také už ještě jen velmi tak tam tu tady teď pak všechno všichni jiný jiná jiné
    """,
    "hungarian": """
        én engem nekem te téged neked ő őt neki mi minket nekünk ti titeket nektek ők őket nekik maga ön az a egy ez ezt
        azt ezek azok ezen azon
        ki kit kinek kik mi mit minek mik melyik milyen mikor hol hová honnan miért hogyan hogy mennyi hány kié
        vagyok vagy van vagyunk vannak volt voltak lesz lenne lehet kell
        és meg de vagy sem nem ne ha mert mint bár amíg ami aki amely
        is már még csak nagyon így úgy ott itt most majd minden más alatt fölött között előtt után mellett által
    """,
    "turkish": """
        ben beni bana benim sen seni sana senin o onu ona onun biz bizi bize bizim siz sizi size sizin onlar onları
        onların bu bunu buna bunun şu bir
        kim kimi kime kimin ne neyi neye nedir hangi ne zaman nerede nereye nereden neden niçin nasıl kaç
        mi mı mu mü var yok idi oldu olan olarak olur
        ve veya ya ama fakat ancak ki de da ile için gibi kadar göre sonra önce çünkü eğer
        çok daha en her hiç değil bütün tüm diğer başka
    """,
    "greek": """
        εγώ με μου εσύ σε σου αυτός αυτή αυτό αυτοί αυτές αυτά του της τον την το εμείς μας εσείς σας τους ο η οι τα
        των ένας μία μια ένα
        ποιος ποια ποιο ποιοι ποιες τι πότε πού που πώς πως γιατί πόσο πόση πόσοι πόσες
        είμαι είσαι είναι είμαστε ήταν ήμουν έχω έχεις έχει έχουμε έχουν είχε είχαν θα να μπορεί πρέπει
        και ή αλλά ούτε δεν μην μη αν όταν ενώ επειδή ότι
        σε στο στη στην στον στους στις στα από για με χωρίς προς κατά μετά πριν μέχρι ως
        πολύ πιο επίσης ήδη μόνο εδώ εκεί τώρα όλα όλοι όλες κάθε άλλος άλλη άλλο
    """,
    "indonesian": """
        saya aku ku kamu kau anda engkau dia ia beliau nya kami kita mereka kalian ini itu tersebut sebuah seorang para
        siapa apa mana kapan bagaimana mengapa kenapa berapa apakah
        adalah ialah ada telah sudah sedang akan bisa dapat harus boleh pernah belum
        dan atau tetapi tapi namun karena sebab jika kalau bila agar supaya bahwa yang
        di ke dari pada dengan untuk oleh dalam antara tanpa tentang sampai hingga sejak
        tidak bukan juga lagi sangat hanya saja pun lah semua lain sama
    """,
}
FUNCTION_WORDS["porter"] = FUNCTION_WORDS["english"]
FUNCTION_WORDS["dutch_porter"] = FUNCTION_WORDS["dutch"]
